import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {HelpRequest} from '../cli/parsing/help-request.js';
import {CONFIG_KEYS} from '../cli/settings/config-file.js';
import {createConfigActions} from '../features/config/config-actions.js';
import {resolveConfigPath} from '../cli/settings/settings.js';

export default class Config extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = 'View and change the crictl.yaml configuration';
  static override description =
    '--get and --list print the effective values from flags, environment and config file. --set changes the config file, ' +
    'creates it if necessary, and preserves everything else in it.\n\n' +
    `The options are ${CONFIG_KEYS.join(', ')}.`;
  static override usage = 'config (--list | --get=KEY | --set=KEY=VALUE... | KEY [VALUE])';
  static override examples = [
    '<%= config.bin %> config --list',
    '<%= config.bin %> config --get=runtime-endpoint',
    '<%= config.bin %> config --set=runtime-endpoint=unix:///run/containerd/containerd.sock --set=' +
      'timeout=10',
  ];
  static override configFileMayBeMissing = true;
  static override args = {
    key: Args.string({ignoreStdin: true, description: 'Option to print or to set.'}),
    value: Args.string({ignoreStdin: true, description: 'New value of the option.'}),
  };
  static override flags = {
    get: Flags.string({helpValue: 'KEY', description: 'Print the value of an option.'}),
    set: Flags.string({
      helpValue: 'KEY=VALUE',
      multiple: true,
      description: 'Set an option. Can be repeated, or hold several assignments separated by commas.',
    }),
    list: Flags.boolean({description: 'Print all options with their values and sources.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Config);
    const {path} = resolveConfigPath(this.settings.globals, this.context);
    const createActions = await this.dialect.strategy('config', createConfigActions);
    const actions = await createActions(this.services, path);
    this.dialect.checkUsage(() => {
      const given = [flags.get, flags.set, flags.list || undefined].filter((value) => value !== undefined);
      if (given.length > 1) throw new UsageError('--get, --set and --list are mutually exclusive');
    });
    if (flags.get !== undefined) this.out.print(await actions.get(flags.get));
    else if (flags.set !== undefined) await actions.set(flags.set);
    else if (flags.list) this.out.stdout.write(await actions.list());
    else if (args.key === undefined || args.key === '') throw new HelpRequest(this.services.words);
    else this.out.stdout.write(await actions.legacy(args.key, args.value));
  }
}
