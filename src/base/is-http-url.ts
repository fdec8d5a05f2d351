/** Reports whether a text is meant as a URL of a web server, valid or not. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
