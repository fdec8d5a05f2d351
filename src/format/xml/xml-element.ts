/** An XML element with child elements or text. */
export interface XmlElement {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly XmlElement[];
  /** Escaped text. */
  readonly text?: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

/** Characters that XML 1.0 does not allow, not even as a reference, and unpaired surrogates. */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\p{Surrogate}/gu;

/** Escapes text for XML; a character that XML does not allow becomes `\x1b` or the like. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(FORBIDDEN, (character) => {
      const code = character.charCodeAt(0).toString(16);
      return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code}`;
    })
    .replaceAll(/[&<>"\r]/g, (character) => ENTITIES[character] ?? character);
}

/** Escapes an attribute's value: a parser would turn line breaks and tabs into spaces. */
function escapeAttribute(text: string): string {
  return escapeXml(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

/** Formats an element and its children, indented by two spaces per level. */
export function formatElement({name, attributes = {}, children = [], text}: XmlElement, indent = ''): string {
  const start = [
    name,
    ...Object.entries(attributes).map(([key, value]) => `${key}="${escapeAttribute(value)}"`),
  ];
  if (text !== undefined) return `${indent}<${start.join(' ')}>${text}</${name}>`;
  if (children.length === 0) return `${indent}<${start.join(' ')}/>`;
  const inner = children.map((child) => formatElement(child, `${indent}  `));
  return [`${indent}<${start.join(' ')}>`, ...inner, `${indent}</${name}>`].join('\n');
}
