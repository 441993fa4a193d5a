/* Browsers start no workers for pages opened from a file system. The search of these pages is one, so there it runs in a
   hidden frame instead, which is spoken to as a worker would be. Pages from a server are left alone. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.appendChild(frame);
      this.inside = frame.contentWindow;
      /* What is said to the frame before its script has run would be lost. */
      window.addEventListener("message", event => {
        if (event.source !== this.inside) return;
        this.dispatchEvent(new MessageEvent("message", {data: event.data}));
      });
      const page = this.inside.document;
      page.open();
      page.write(`<script>
        self.postMessage = data => parent.postMessage(data, "*");
        self.importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() =>
          new Promise((done, failed) => {
            const script = document.createElement("script");
            script.src = address;
            script.onload = done;
            script.onerror = failed;
            document.body.appendChild(script);
          })), Promise.resolve());
      <\/script><body><script src="${url}"><\/script>`);
      page.close();
      frame.onload = () => {
        const messages = this.waiting;
        this.waiting = null;
        messages.forEach(data => this.postMessage(data));
      };
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inside.dispatchEvent(new MessageEvent("message", {data}));
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
