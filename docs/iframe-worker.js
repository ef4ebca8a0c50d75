// Browsers start no workers on pages opened from the disk, and the site's search is one: there it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.onmessage?.(event);
        this.dispatchEvent(event);
      };
      const load = (source) => new Promise((done) => {
        const script = frame.contentDocument.createElement("script");
        script.src = source;
        script.onload = script.onerror = done;
        frame.contentDocument.body.append(script);
      });
      this.inside.importScripts = (...sources) => sources.reduce((earlier, source) => earlier.then(() => load(source)), Promise.resolve());
      this.loaded = load(new URL(url, document.baseURI).href);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
