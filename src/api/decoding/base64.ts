const DIGIT = /^[A-Za-z0-9+/]$/;
const LINE_BREAK = /^[\r\n]$/;

/**
 * Returns the offset at which a text stops being standard base64 with padding, as Go's encoding/base64 counts it;
 * undefined for valid base64. Line breaks are accepted.
 */
export function findBase64Error(text: string): number | undefined {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (LINE_BREAK.test(character)) continue;
    if (character === '=') return paddingFault(text, index, digits % 4);
    if (!DIGIT.test(character)) return index;
    digits += 1;
  }
  return digits % 4 === 0 ? undefined : text.length - (digits % 4);
}

/** Checks the padding that starts at `start`, after this many digits of the last group of four. */
function paddingFault(text: string, start: number, digits: number): number | undefined {
  if (digits < 2) return start;
  let index = afterLineBreaks(text, start + 1);
  if (digits === 2) {
    if (index === text.length) return index;
    if (text.charAt(index) !== '=') return index - 1;
    index = afterLineBreaks(text, index + 1);
  }
  return index === text.length ? undefined : index;
}

function afterLineBreaks(text: string, start: number): number {
  let index = start;
  while (LINE_BREAK.test(text.charAt(index))) index += 1;
  return index;
}
