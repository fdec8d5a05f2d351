import {ConfigError, messageOf, UsageError} from '../../base/errors.js';
import {valueText} from '../../format/go-template/values.js';
import {compileJsonPathValues} from '../../format/jsonpath/compile.js';
import type {Json} from '../../format/json.js';
import type {Column} from '../../format/table.js';
import {TemplateError} from '../../format/template-error.js';
import type {RowFormat} from './output-format.js';
import {GrowingTable} from '../../format/growing-table.js';

/** Column of `-o custom-columns`: its header and the JSONPath of its values. */
export interface CustomColumn {
  readonly header: string;
  readonly path: string;
}

const MISSING = '<none>';

/** Parses `HEADER:PATH,…`; commas in brackets do not separate columns. Throws UsageError. */
export function parseColumns(spec: string): readonly CustomColumn[] {
  return splitColumns(spec).map((column) => {
    const colon = column.indexOf(':');
    if (colon === -1)
      throw new UsageError(`invalid column "${column}" of -o custom-columns: must be HEADER:PATH`, {
        hint: 'use for example -o custom-columns=NAME:.metadata.name,STATE:.state',
      });
    return {header: column.slice(0, colon), path: column.slice(colon + 1)};
  });
}

const BRACKETS: Readonly<Record<string, number>> = {'[': 1, '(': 1, '{': 1, ']': -1, ')': -1, '}': -1};

function splitColumns(spec: string): readonly string[] {
  const columns: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < spec.length; at++) {
    const char = spec.charAt(at);
    depth += BRACKETS[char] ?? 0;
    if (char !== ',' || depth > 0) continue;
    columns.push(spec.slice(start, at));
    start = at + 1;
  }
  return [...columns, spec.slice(start)];
}

/** Parses a file of kubectl's custom columns: a line of headers above a line of paths. Throws ConfigError. */
export function parseColumnsFile(text: string): readonly CustomColumn[] {
  const [headers = [], paths = []] = text.split('\n').map((line) => line.trim().split(/\s+/).filter(Boolean));
  if (headers.length === 0 || headers.length !== paths.length)
    throw new ConfigError(
      `invalid file of custom columns: it has ${headers.length} headers and ${paths.length} paths`,
      {hint: 'write the headers into the first line and a path for each of them into the second one'},
    );
  return headers.map((header, index) => ({header, path: paths[index] ?? ''}));
}

/**
 * Returns the format of custom columns, as in kubectl: several values are joined by commas, and missing ones shown as
 * `<none>`. Throws TemplateError for an invalid path.
 */
export function compileColumns(
  columns: readonly CustomColumn[],
  {header}: {readonly header: boolean},
): RowFormat {
  const table = new GrowingTable(columns.map(compileColumn), {header, headerOfNone: true});
  return {kind: 'rows', render: (rows) => table.text(rows)};
}

function compileColumn({header, path}: CustomColumn): Column<Json> {
  const values = inColumn(header, () => compileJsonPathValues(path));
  return {header, value: (row) => inColumn(header, () => cellText(values(row)))};
}

function cellText(values: readonly Json[]): string {
  const texts = values.map((value) => (value === null ? MISSING : valueText(value)));
  return texts.length === 0 ? MISSING : texts.join(',');
}

function inColumn<T>(header: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(`column "${header}": ${messageOf(error)}`, {cause: error});
  }
}
