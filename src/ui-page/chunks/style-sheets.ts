/**
 * Replaces `document.createElement` until the returned function is called. xterm.js styles elements in two ways that the
 * page's content security policy forbids: with elements `style`, whose text becomes a constructed style sheet instead, and
 * with attributes `style`, which become properties.
 */
export function replaceCreateElement(): () => void {
  Object.defineProperty(document, 'createElement', {value: createElement, configurable: true});
  return () => Reflect.deleteProperty(document, 'createElement');
}

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

function createPlain(tag: string): HTMLElement {
  return document.createElementNS('http://www.w3.org/1999/xhtml', tag.toLowerCase());
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
