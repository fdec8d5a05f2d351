import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';

interface Budget {
  readonly modules: readonly string[];
}

const budget = JSON.parse(
  readFileSync(new URL('../../startup-budget.json', import.meta.url), 'utf8'),
) as Readonly<Record<'logs' | 'ps', Budget>>;

/** Modules for the log of one container: its arguments, its status, its file, its lines, and the output, without names, times and files before it. */
const OWN = [
  'src/base/async/any-signal.ts',
  'src/base/fs/direct-calls.ts',
  'src/base/fs/file-system-kinds.ts',
  'src/base/fs/if-present.ts',
  'src/cli/command/for-each-target.ts',
  'src/cli/flags/positional-arguments.ts',
  'src/commands/logs.ts',
  'src/features/containers/select-containers.ts',
  'src/features/logs/log-files-of.ts',
  'src/features/logs/log-sink.ts',
  'src/features/logs/log-strategy.ts',
  'src/features/logs/show-container-logs.ts',
  'src/operations/logs/buffered-log-writer.ts',
  'src/operations/logs/container-log.ts',
  'src/operations/logs/line-reader.ts',
  'src/operations/logs/log-file.ts',
  'src/operations/logs/log-files.ts',
  'src/operations/logs/log-line-formatter.ts',
  'src/operations/logs/log-range.ts',
  'src/operations/logs/log-ranges.ts',
  'src/operations/logs/log-read-strategy.ts',
  'src/operations/logs/log-selection.ts',
  'src/operations/logs/log-source.ts',
  'src/operations/logs/merge-logs.ts',
  'src/operations/logs/rotated-segments.ts',
  'src/operations/logs/show-logs.ts',
  'src/operations/resolve/resolve-names.ts',
  'src/program/bundled/args.ts',
];

test('logs of a full ID loads only these modules that ps does not load', () => {
  expect(budget.logs.modules.filter((module) => !budget.ps.modules.includes(module))).toEqual(OWN);
});
