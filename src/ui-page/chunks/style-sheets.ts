/**
 * Returns the document with one difference: elements `style` that it creates are others whose text becomes a constructed
 * style sheet. xterm.js creates such elements, which the page's content security policy forbids.
 */
export function documentWithoutStyleElements(): Document {
  return new Proxy(document, {
    get: (target, name) => {
      if (name === 'createElement')
        return (tag: string) => (tag === 'style' ? createSheetElement() : target.createElement(tag));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function createSheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = document.createElement('span');
  Object.defineProperty(element, 'textContent', {set: (css: string) => sheet.replaceSync(css)});
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
