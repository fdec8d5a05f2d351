/** A TOML table with the kinds of values that containerd's configuration needs. */
export interface TomlTable {
  readonly [key: string]: string | number | boolean | readonly string[] | TomlTable;
}

/** Formats a table as TOML: plain values first, then sub-tables under their full, quoted names. */
export function stringifyToml(table: TomlTable, path: readonly string[] = []): string {
  const entries = Object.entries(table);
  const lines = entries.flatMap(([key, value]) =>
    isTable(value) ? [] : [`${quoted(key)} = ${valueText(value)}`],
  );
  const heading = path.length > 0 && lines.length > 0 ? [`[${path.map(quoted).join('.')}]`] : [];
  const tables = entries.flatMap(([key, value]) =>
    isTable(value) ? [stringifyToml(value, [...path, key])] : [],
  );
  return [[...heading, ...lines].join('\n'), ...tables].filter((text) => text !== '').join('\n\n');
}

function isTable(value: TomlTable[string]): value is TomlTable {
  return typeof value === 'object' && !isList(value);
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

function valueText(value: Exclude<TomlTable[string], TomlTable>): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'object') return `[${value.map(quoted).join(', ')}]`;
  return value.toString();
}

/** Quotes a basic string: TOML's escapes are those of JSON, except for DEL. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
