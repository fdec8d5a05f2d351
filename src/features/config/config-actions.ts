import {realpath, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {writeFileAtomic} from '../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import {makeDirectoryPath} from '../../base/fs/make-directory-path.js';
import {renderTable} from '../../format/table.js';
import type {CommandStrategies} from '../../cli/dialect/command-strategies.js';
import {
  editConfigFile,
  parseAssignments,
  parseConfigChange,
  requireConfigKey,
  type ConfigChange,
} from './edit-config-file.js';
import type {ReportContext, SettingsContext} from '../../cli/command/contexts.js';
import type {ConfigActions} from './edit-config-file.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly config: (services: ReportContext & SettingsContext, path: string) => Promise<ConfigActions>;
  }
}

/**
 * Returns the actions of kcri's `config`: it shows effective options, and edits the config file without reformatting
 * it.
 */
export const createConfigActions: CommandStrategies['config'] = async ({settings}, path) => {
  const valueOf = async (name: string): Promise<string> => {
    const key = requireConfigKey(name);
    const {options} = await settings.read();
    return String(options.find((option) => option.key === key)?.value ?? '');
  };
  return await Promise.resolve({
    get: valueOf,
    set: (assignments) => withUserFileHints(() => changeFile(path, parseAssignments(assignments))),
    list: async () => renderTable(COLUMNS, (await settings.read()).options).toString(),
    legacy: async (key, value) => {
      if (value === undefined) return `${await valueOf(key)}\n`;
      await withUserFileHints(() => changeFile(path, [parseConfigChange(key, value)]));
      return '';
    },
  });
};

const COLUMNS = [
  {header: 'KEY', value: ({key}: {key: string}) => key},
  {header: 'VALUE', value: ({value}: {value: unknown}) => String(value)},
  {header: 'SOURCE', value: ({source}: {source: string}) => source},
];

/** Mode of a new file, readable by all since it holds no secret. */
const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;

/** Changes options atomically, also behind a symbolic link, and preserves mode and owner of the file. */
async function changeFile(path: string, changes: readonly ConfigChange[]): Promise<void> {
  const target = (await withFileErrors('reading', path, () => ifPresent(() => realpath(path)))) ?? path;
  const [source, old] = await withFileErrors('reading', target, async () => [
    (await ifPresent(() => readBoundedFile(target)))?.toString() ?? '',
    await ifPresent(() => stat(target)),
  ]);
  const text = await editConfigFile(source, changes);
  await makeDirectoryPath(dirname(target), NEW_FOLDER_MODE);
  await writeFileAtomic(target, text, (old?.mode ?? NEW_FILE_MODE) & 0o7777, old);
}
