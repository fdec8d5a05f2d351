/** Formats a URL without its password. */
export function redactUrl(url: URL): string {
  if (url.password === '') return url.href;
  const shown = new URL(url);
  shown.password = '***';
  return shown.href;
}
