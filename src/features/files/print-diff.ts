import {missingArgument} from '../../cli/flags/positional-arguments.js';
import {textToBytes} from '../../base/byte-text.js';
import type {FileChange} from '../../operations/files/compare-layers.js';
import {diffContainer} from '../../operations/files/diff-container.js';
import type {
  DialectContext,
  OutputContext,
  ResolvingContext,
  RuntimeContext,
} from '../../cli/command/contexts.js';
import {withElapsedTime} from '../../cli/output/elapsed-time.js';
import {formatSorted, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {actOnContainer} from './act-on-container.js';

/** Options of `diff`. */
interface DiffOptions {
  readonly form: OutputFormat<'table' | 'json' | 'yaml'>;
  /** Name of the container of a pod. */
  readonly container: string | undefined;
}

/** Prints the files of a container that differ from its image. Rejects with KcriError. */
export async function printDiff(
  services: RuntimeContext & DialectContext & OutputContext & ResolvingContext,
  ref: string | undefined,
  {form, container}: DiffOptions,
): Promise<void> {
  if (ref === undefined || ref === '') throw missingArgument('container or a pod');
  const {connections, context, out, signal} = services;
  const connection = await connections.default();
  const source = {endpoint: await connections.endpoint(), signal};
  const comparing = actOnContainer(
    services,
    connection,
    {ref, container},
    async (target) => await diffContainer(connection.runtime, target, source),
  );
  const changes = await withElapsedTime(comparing, {
    activity: `comparing ${ref}`,
    output: out.stderr,
    context,
  });
  if (form.kind === 'table') out.printText(textToBytes(changes.map(lineOf).join('')));
  else out.printData(await formatSorted(form, {changes: changes.map(jsonOf)}));
}

function lineOf({change, path}: FileChange): string {
  return `${change} ${path}\n`;
}

/** JSON has only Unicode, so bytes that are not UTF-8 are replaced. */
function jsonOf({change, path}: FileChange) {
  return {change, path: textToBytes(path).toString()};
}
