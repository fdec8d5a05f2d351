/** Label with a value, or with lines below it. Empty values are omitted. */
export type KeyValue = readonly [label: string, value: string | number | undefined | readonly string[]];

const INDENT = '  ';

/** Formats labels and values, one per line, with the values aligned. */
export function formatKeyValueList(facts: readonly KeyValue[]): string {
  const shown = facts.filter(([, value]) => value !== undefined && value !== '' && !isEmpty(value));
  const single = shown.filter(([, value]) => !isList(value));
  const width = Math.max(0, ...single.map(([label]) => label.length));
  return shown
    .map(([label, value]) =>
      isList(value)
        ? [`${label}:`, ...value.map((line) => INDENT + line.replaceAll('\n', `\n${INDENT}${INDENT}`))]
        : [`${`${label}:`.padEnd(width + 1)} ${indented(String(value), width + 2)}`],
    )
    .flat()
    .map((line) => `${line}\n`)
    .join('');
}

/** Indents the further lines of a multi-line value. */
function indented(text: string, width: number): string {
  return text.trimEnd().replaceAll('\n', `\n${' '.repeat(width)}`);
}

function isList(value: KeyValue[1]): value is readonly string[] {
  return Array.isArray(value);
}

function isEmpty(value: KeyValue[1]): boolean {
  return isList(value) && value.length === 0;
}
