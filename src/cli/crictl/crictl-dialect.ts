import {UsageError} from '../../base/errors.js';
import {NothingFoundError} from '../../operations/resolve/resolve-names.js';
import {crictlVersionLine} from '../crictl-version.js';
import type {Dialect, FlagScope} from '../dialect.js';
import {HelpRequest} from '../help-request.js';
import {resolveSettings} from '../settings/settings.js';
import type {Tokens} from '../parsing/tokenize.js';
import {ArgumentsError, FlagError, UnknownCommandError} from '../usage-errors.js';
import {crictlCommand, isCrictlCommand} from './crictl-commands.js';
import {CRICTL_FLAG_SYNTAX} from './crictl-flag-syntax.js';
import {withoutKcriFlags} from './kcri-flags.js';
import {parseCrictlOutputFormat} from './crictl-output-format.js';
import {CRICTL_SETTINGS_SOURCE} from './crictl-settings.js';
import {CRICTL_STRATEGIES} from './crictl-strategies.js';
import {findCrictlEndpoint, resolveCrictlAddress, resolveCrictlImageAddress} from './crictl-endpoints.js';
import {tokenizeGoFlags} from './tokenize-go-flags.js';
import {validateServices} from './validate-services.js';
import {createCrictlReporter} from './crictl-reporter.js';

/**
 * crictl's dialect, including faults that scripts may rely on, such as help and success for an invalid command line.
 */
export const CRICTL_DIALECT: Dialect = {
  program: 'crictl',
  // Scripts and cri-tools' own tests look for this line.
  helpTitle: 'crictl - client for CRI\n\n',
  version: crictlVersionLine,
  tokenize: (argv, {command, own, shared}) =>
    command === undefined
      ? tokenizeGoFlags(argv, {...shared, ...own}, {combinesShorts: false})
      : withHelpCommand(
          tokenizeGoFlags(argv, withoutKcriFlags(command, own), {combinesShorts: combinesShorts(command)}),
        ),
  flagSyntax: CRICTL_FLAG_SYNTAX,
  createReporter: createCrictlReporter,
  helpFor: (error, words, reporter) => {
    if (error instanceof FlagError) return new HelpRequest(words, error);
    if (error instanceof ArgumentsError) return new HelpRequest(words);
    // An unset variable does not name a command.
    if (error instanceof UnknownCommandError && error.message === crictlUnknownCommand(''))
      return new HelpRequest([]);
    if (!(error instanceof NothingFoundError)) return undefined;
    reporter.error(error.message);
    return new HelpRequest(words);
  },
  unknownCommandText: (words) => crictlUnknownCommand(words.join(' ')),
  offersCommand: isCrictlCommand,
  ignoresArguments: (command) => crictlCommand(command).ignoresArguments === true,
  beforeCommand: async ({globals, words}, context, reporter) => {
    await resolveSettings(globals, context, {
      mayBeMissing: words[0] === 'config',
      source: CRICTL_SETTINGS_SOURCE,
      onWarning: (text) => {
        reporter.warn(text);
      },
    });
  },
  checkUsage: () => undefined,
  settingsSource: CRICTL_SETTINGS_SOURCE,
  warnsOfConfigFile: false,
  resolveAddress: resolveCrictlAddress,
  resolveImageAddress: resolveCrictlImageAddress,
  findEndpoint: findCrictlEndpoint,
  checkConnection: validateServices,
  takesOnlyIds: true,
  stopsAtFailure: ({limit, signal}) => limit === 1 || signal.aborted,
  escapesControls: false,
  queriesSeveralNodes: false,
  parseOutputFormat: parseCrictlOutputFormat,
  diagnostics: ({info}) => ({program: 'cri-tools', inform: info}),
  strategy: async (name) => await CRICTL_STRATEGIES[name](),
};

const combinesShorts = (command: NonNullable<FlagScope['command']>): boolean =>
  crictlCommand(command).combinesShorts === true;

const crictlUnknownCommand = (name: string): string => `No help topic for '${name}'`;

/** Treats `help` as a subcommand of every command. */
function withHelpCommand(tokens: Tokens): Tokens {
  const [first = '', second] = tokens.positionals;
  if (tokens.help && first !== '') throw new UsageError(crictlUnknownCommand(first));
  if (!/^(help|h)$/.test(first)) return tokens;
  if (second !== undefined) throw new UnknownCommandError(crictlUnknownCommand(second));
  return {...tokens, help: true};
}
