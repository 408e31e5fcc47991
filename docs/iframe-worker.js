// Browsers start no workers from files: in a folder, the site's search runs in a hidden frame instead. Where there is a
// server this does nothing. Its name tells the theme not to fetch a script of that name from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><body></body>";
      this.frame = frame;
      this.ready = new Promise((resolve, reject) => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          // What the worker's script calls to answer.
          inside.postMessage = (data) => {
            const answer = new MessageEvent("message", { data });
            this.dispatchEvent(answer);
            if (this.onmessage) this.onmessage(answer);
          };
          inside.importScripts = () => Promise.resolve();  // other languages than English, which the site has not
          const script = inside.document.createElement("script");
          script.onload = () => resolve(inside);
          script.onerror = reject;
          script.src = new URL(address, location.href).href;
          inside.document.body.append(script);
        };
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
