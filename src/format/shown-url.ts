/** A URL for people: without its password. */
export function shownUrl(url: URL): string {
  if (url.password === '') return url.href;
  const shown = new URL(url);
  shown.password = '***';
  return shown.href;
}
