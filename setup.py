"""What pyproject.toml cannot say: a wheel that carries compiled kernels is for one platform, and for any Python."""

from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

MACHINE_CODE = Path(__file__).parent / "src/everlog/engines/columnar/native/machine_code"


class WithKernels(Distribution):
    """The package, with compiled kernels if there are any."""

    def has_ext_modules(self) -> bool:
        """Does it hold what not every machine can run?"""
        return next(MACHINE_CODE.glob("*/*.kernel"), None) is not None


class Wheel(bdist_wheel):
    """A wheel whose compiled part no Python has a say in."""

    def get_tag(self) -> tuple[str, str, str]:
        """`py3-none-any`, or `py3-none-PLATFORM`."""
        return "py3", "none", super().get_tag()[2]


setup(distclass=WithKernels, cmdclass={"bdist_wheel": Wheel})
