const MASK = '***';

/**
 * Formats a URL without credentials: masks the password, a user name without a password, which may be a token, and the
 * values of the query, and the fragment.
 */
export function redactUrl(url: URL): string {
  const shown = new URL(url);
  if (url.password !== '') shown.password = MASK;
  else if (url.username !== '') shown.username = MASK;
  shown.search = redactQuery(url.search);
  if (url.hash !== '') shown.hash = MASK;
  return shown.href;
}

/** Returns the text of a URL, which may be invalid, without credentials. */
export function redactUrlText(text: string): string {
  if (URL.canParse(text)) return redactUrl(new URL(text));
  return text
    .replace(/[^/@]*@/, `${MASK}@`)
    .replace(/#.*/s, `#${MASK}`)
    .replace(/\?[^#]*/s, redactQuery);
}

function redactQuery(search: string): string {
  return search.replace(/([?&])([^=&]*)(=?)[^&]*/g, (_, separator: string, name: string, equals: string) =>
    equals === '' ? `${separator}${name === '' ? '' : MASK}` : `${separator}${name}=${MASK}`,
  );
}
