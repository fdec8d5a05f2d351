/** What is known of an object: a label and a value, or lines below it. What is empty is not shown. */
export type Fact = readonly [label: string, value: string | number | undefined | readonly string[]];

const INDENT = '  ';

/** Facts one below the other with their values aligned, each line ended. */
export function factsText(facts: readonly Fact[]): string {
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

/** A text of several lines goes on below its beginning. */
function indented(text: string, width: number): string {
  return text.trimEnd().replaceAll('\n', `\n${' '.repeat(width)}`);
}

function isList(value: Fact[1]): value is readonly string[] {
  return Array.isArray(value);
}

function isEmpty(value: Fact[1]): boolean {
  return isList(value) && value.length === 0;
}
