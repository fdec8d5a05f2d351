/**
 * The reference with `:latest` when it has neither tag nor digest (applyDefaultImageTag), or undefined when it
 * is not a valid image reference (distribution/reference).
 */
export function applyDefaultImageTag(image: string): string | undefined {
  const match = REFERENCE.exec(image);
  if (match === null || HEX_ID.test(image)) return undefined;
  return match.groups?.['tag'] === undefined && match.groups?.['digest'] === undefined
    ? `${image}:latest`
    : image;
}

const HEX_ID = /^[0-9a-f]{64}$/;
const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*` +
    '(?::(?<tag>[\\w][\\w.-]{0,127}))?' +
    '(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$',
);
