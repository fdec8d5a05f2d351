import {findClosestMatch} from '../../base/closest-match.js';
import {systemClock} from '../../base/clock.js';
import {UsageError} from '../../base/errors.js';
import {compileGoTemplate} from '../../format/go-template/compile.js';
import {DOCKER_FUNCTIONS} from '../../format/go-template/docker-functions.js';
import {formatCompactJson, type Json} from '../../format/json.js';
import {TemplateError} from '../../format/template-error.js';
import {withDockerFields, withRowPerTag} from './docker-fields.js';
import type {OutputFlagValues, OutputFormat, OutputFormatName, RowFormat} from './output-format.js';
import {templateHeaders} from './template-headers.js';
import {GrowingTable} from '../../format/growing-table.js';

/** Name of the template in errors. */
const NAME = 'format';

const ACTION = /(\{\{.*?\}\})/s;

/**
 * Returns the format of `--format`, as in docker: `json`, the name of a table of the command, `table TEMPLATE`, or a
 * template. Rejects with UsageError and TemplateError.
 */
export async function parseFormatFlag<F extends OutputFormatName>(
  {format = '', output, template, 'no-headers': bare = false}: OutputFlagValues,
  formats: readonly F[],
): Promise<OutputFormat<F>> {
  if (output !== undefined) throw new UsageError('--format cannot be combined with --output');
  if (template !== undefined) throw new UsageError('--format cannot be combined with --template');
  if (format === 'json') return rowFormat((rows) => rows.map((row) => `${jsonLine(row)}\n`).join(''));
  const table = formats.find((name) => name === format && (name === 'table' || name === 'wide'));
  if (table !== undefined) return {kind: table} as OutputFormat<F>;
  const [, text] = /^table\s+(.*)$/s.exec(format) ?? [];
  checkTemplate(text ?? format, formats);
  return await Promise.resolve(text === undefined ? lines(format) : tableOf(text.trim(), {header: !bare}));
}

/** Throws UsageError for a text without any action, which would be printed for each row. */
function checkTemplate(text: string, formats: readonly OutputFormatName[]): void {
  if (text.includes('{{')) return;
  const named = findClosestMatch(text, formats);
  throw new UsageError(`invalid --format "${text}": it contains no action such as {{.id}}`, {
    hint: named === undefined ? 'use a Go template, "table TEMPLATE" or "json"' : `use -o ${named}`,
  });
}

function rowFormat(render: RowFormat['render']): RowFormat {
  return {kind: 'rows', render};
}

function lines(text: string): RowFormat {
  const render = compileRows(withEscapes(text));
  return rowFormat((rows) =>
    render(rows)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** Returns a table whose columns are separated by tabs in the template. */
function tableOf(text: string, {header}: {readonly header: boolean}): RowFormat {
  const template = withEscapes(text);
  const render = compileRows(template);
  const headers = templateHeaders(template);
  const last = headers.length - 1;
  const columns = headers.map((title, index) => ({
    header: title,
    // Tabs inside of a loop may make more cells than headers.
    value: (cells: readonly string[]) =>
      index === last ? cells.slice(index).join(' ') : (cells[index] ?? ''),
  }));
  const table = new GrowingTable(columns, {header, headerOfNone: true});
  return rowFormat((rows) => table.text(render(rows).map((line) => line.split('\t'))));
}

/** Replaces `\t` and `\n` outside of actions, as docker does, because a shell passes them unchanged. */
function withEscapes(text: string): string {
  return text
    .split(ACTION)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('\\t', '\t').replaceAll('\\n', '\n')))
    .join('');
}

/** Compiles a template for rows, in which docker's fields can be used too. */
function compileRows(text: string): (rows: readonly Json[]) => readonly string[] {
  const render = compileRow(text);
  return (rows) => {
    const nowMs = systemClock.now();
    return withRowPerTag(rows, text).map((row) => render(withDockerFields(row, nowMs)));
  };
}

/** Compiles a template for one row; its errors name the fields of the row. */
function compileRow(text: string): (row: Json) => string {
  const render = compileGoTemplate(text, NAME, DOCKER_FUNCTIONS);
  return (row) => {
    try {
      return render(row);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      const fields = typeof row === 'object' && row !== null ? Object.keys(row).toSorted().join(', ') : '';
      throw new TemplateError(error.message, {
        cause: error,
        hint: `the fields of this row are ${fields}; --format=json shows them with their values`,
      });
    }
  };
}

function jsonLine(row: Json): string {
  return formatCompactJson(row, {escapeHtml: false});
}
