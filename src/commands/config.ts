import {readFile, realpath, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {ifPresent, onNamedFiles, withFileErrors, writeFileAtomic} from '../base/files.js';
import {makeDirectoryPath} from '../base/make-directory-path.js';
import {BaseCommand} from '../cli/base-command.js';
import {CONFIG_KEYS} from '../cli/config-file.js';
import {
  checkedChange,
  editConfig,
  knownKey,
  parseAssignments,
  type ConfigActions,
  type ConfigChange,
} from '../cli/edit-config.js';
import {HelpRequest} from '../cli/help-request.js';
import {configPath} from '../cli/settings.js';
import {renderTable} from '../format/table.js';

export default class Config extends BaseCommand {
  static override summary = 'Show and change the settings';
  static override description =
    '--get and --list show what is in force, by flags, environment and config file together. --set changes the ' +
    'config file, or makes it, and leaves everything else in it as it is.\n\n' +
    `The options are ${CONFIG_KEYS.join(', ')}.`;
  static override usage = 'config (--list | --get KEY | --set KEY=VALUE... | KEY [VALUE])';
  static override examples = [
    '<%= config.bin %> config --list',
    '<%= config.bin %> config --get runtime-endpoint',
    '<%= config.bin %> config --set runtime-endpoint=unix:///run/containerd/containerd.sock --set timeout=10',
    '<%= config.bin %> --config ~/crictl.yaml config --set debug=true',
  ];
  static override configFileMayBeMissing = true;
  static override args = {
    key: Args.string({ignoreStdin: true, description: 'Option to show, or to set.'}),
    value: Args.string({ignoreStdin: true, description: 'Value to set it to.'}),
  };
  static override flags = {
    get: Flags.string({helpValue: 'KEY', description: 'Print the value of an option.'}),
    set: Flags.string({
      helpValue: 'KEY=VALUE',
      multiple: true,
      description: 'Set an option. May be repeated, or hold several with commas between.',
    }),
    list: Flags.boolean({description: 'Print all options, their values, and what sets them.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Config);
    const {path} = configPath(this.globals, this.context);
    const actions = this.compat
      ? await (
          await import('../cli/compat/config.js')
        ).crictlConfigActions(path, (text) => {
          this.note(text);
        })
      : this.#actions(path);
    const wanted = [flags.get, flags.set, flags.list || undefined].filter((given) => given !== undefined);
    if (wanted.length > 1 && !this.compat)
      throw new UsageError('only one of --get, --set and --list can be given');
    if (flags.get !== undefined) this.print(await actions.get(flags.get));
    else if (flags.set !== undefined) await actions.set(flags.set);
    else if (flags.list) this.stdout.write(await actions.list());
    else if (args.key === undefined || args.key === '') throw new HelpRequest(this.words);
    else this.stdout.write(await actions.legacy(args.key, args.value));
  }

  #actions(path: string): ConfigActions {
    const valueOf = async (name: string): Promise<string> => {
      const key = knownKey(name);
      const {options} = await this.settings();
      return String(options.find((option) => option.key === key)?.value ?? '');
    };
    return {
      get: valueOf,
      set: (assignments) => onNamedFiles(() => change(path, parseAssignments(assignments))),
      list: async () => renderTable(COLUMNS, (await this.settings()).options).toString(),
      legacy: async (key, value) => {
        if (value === undefined) return `${await valueOf(key)}\n`;
        await onNamedFiles(() => change(path, [checkedChange(key, value)]));
        return '';
      },
    };
  }
}

const COLUMNS = [
  {header: 'KEY', value: ({key}: {key: string}) => key},
  {header: 'VALUE', value: ({value}: {value: unknown}) => String(value)},
  {header: 'SOURCE', value: ({source}: {source: string}) => source},
];

/** A file that was not there: everybody may read it, since it holds no secret. */
const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;

/** Changes options in the file behind a link too, in one go, and keeps its mode and its owner. */
async function change(path: string, changes: readonly ConfigChange[]): Promise<void> {
  const target = (await withFileErrors('reading', path, () => ifPresent(() => realpath(path)))) ?? path;
  const [source, old] = await withFileErrors('reading', target, async () => [
    (await ifPresent(() => readFile(target, 'utf8'))) ?? '',
    await ifPresent(() => stat(target)),
  ]);
  const text = await editConfig(source, changes);
  await makeDirectoryPath(dirname(target), NEW_FOLDER_MODE);
  await writeFileAtomic(target, text, (old?.mode ?? NEW_FILE_MODE) & 0o7777, old);
}
