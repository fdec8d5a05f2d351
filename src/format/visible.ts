/** A text with its control characters, but for line ends and tabs, written as `\x1b`: it cannot steer a terminal. */
export function visibleControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return `\\x${code.padStart(2, '0')}`;
  });
}
