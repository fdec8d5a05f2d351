/**
 * Creates elements for xterm.js, which styles them in two ways that the page's content security policy forbids: with
 * elements `style`, whose text becomes a constructed style sheet here, and with attributes `style`, which become properties.
 */
function createElement(tag: string): HTMLElement {
  if (tag === 'style') return createSheetElement();
  const element = createPlain(tag);
  if (tag === 'span') {
    element.setAttribute = (name, value) => {
      if (name === 'style') element.style.cssText = value;
      else Element.prototype.setAttribute.call(element, name, value);
    };
  }
  return element;
}

/** Creates an element without `document.createElement`, which may be another. */
function createPlain(tag: string): HTMLElement {
  return document.createElementNS('http://www.w3.org/1999/xhtml', tag);
}

/** Returns the document with another `createElement`. */
export function documentForTerminal(): Document {
  return new Proxy(document, {
    get: (target, name) => {
      if (name === 'createElement') return createElement;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Runs a function with another `document.createElement`: xterm.js does not use its `documentOverride` everywhere. */
export function withOwnElements(run: () => void): void {
  Object.defineProperty(document, 'createElement', {value: createElement, configurable: true});
  try {
    run();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
}

function createSheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = createPlain('span');
  Object.defineProperty(element, 'textContent', {
    set: (css: string) => {
      sheet.replaceSync(css);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
