import {UsageError} from '../base/errors.js';
import {NothingFoundError} from '../operations/resolve/target.js';
import {crictlVersionLine} from '../cli/process/crictl-version.js';
import type {Dialect, FlagScope, ScopedFlags} from '../cli/dialect/dialect.js';
import {HelpRequest} from '../cli/parsing/help-request.js';
import {resolveSettings} from '../cli/settings/settings.js';
import {parseFlagValue} from '../cli/parsing/parse-values.js';
import type {FlagToken, Tokens} from '../cli/parsing/tokenize.js';
import {ArgumentsError, FlagError, UnknownCommandError} from '../cli/parsing/usage-errors.js';
import {connectFirst} from '../cli/crictl/connect-first.js';
import {crictlCommand, isCrictlCommand} from '../cli/crictl/crictl-commands.js';
import {checkPullTimeout, CRICTL_FLAG_SYNTAX} from '../cli/crictl/crictl-flag-syntax.js';
import {crictlHelpTopic} from '../cli/crictl/crictl-help-topic.js';
import {withoutKcriFlags} from '../cli/crictl/kcri-flags.js';
import {parseCrictlOutputFormat} from '../cli/crictl/crictl-output-format.js';
import {CRICTL_SETTINGS_SOURCE} from '../cli/crictl/crictl-settings.js';
import {CRICTL_STRATEGIES} from './crictl-strategies.js';
import {
  checkCrictlServices,
  findCrictlEndpoint,
  resolveCrictlAddress,
  resolveCrictlImageAddress,
} from '../cli/crictl/crictl-endpoints.js';
import {tokenizeGoFlags} from '../cli/crictl/tokenize-go-flags.js';
import {createCrictlReporter} from '../cli/crictl/crictl-reporter.js';

/**
 * crictl's dialect, including faults that scripts may rely on, such as help and success for an invalid command line.
 */
export const CRICTL_DIALECT: Dialect = {
  program: 'crictl',
  // Scripts and cri-tools' own tests look for this line.
  helpTitle: 'crictl - client for CRI\n\n',
  version: crictlVersionLine,
  tokenize: async (argv, {command, own, shared, env}) => {
    if (Object.hasOwn(own, 'pull-timeout')) checkPullTimeout(env);
    const flags = command === undefined ? {...shared, ...own} : withoutKcriFlags(command, own);
    const syntax = {combinesShorts: combinesShorts(command), check: checkValue(flags)};
    const tokens = await tokenizeGoFlags(argv, flags, syntax);
    return command === undefined ? tokens : withHelpCommand(tokens);
  },
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
  helpTopic: crictlHelpTopic,
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
  afterParsing: connectFirst,
  checkUsage: () => undefined,
  settingsSource: CRICTL_SETTINGS_SOURCE,
  warnsOfConfigFile: false,
  servicesOf: (command) => crictlCommand(command).services ?? ['runtime'],
  resolveAddress: resolveCrictlAddress,
  resolveImageAddress: resolveCrictlImageAddress,
  findEndpoint: findCrictlEndpoint,
  checkConnection: checkCrictlServices,
  takesOnlyIds: true,
  stopsAtFailure: ({limit, signal}) => limit === 1 || signal.aborted,
  escapesControls: false,
  queriesSeveralNodes: false,
  parseOutputFormat: parseCrictlOutputFormat,
  diagnostics: ({info}) => ({program: 'cri-tools', inform: info}),
  strategy: async (name) => await CRICTL_STRATEGIES[name](),
};

const combinesShorts = (command: FlagScope['command']): boolean =>
  command !== undefined && crictlCommand(command).combinesShorts === true;

/** Returns a function that parses the value of a flag, and forgets it. */
function checkValue(flags: ScopedFlags): (token: FlagToken) => Promise<void> {
  return async (token) => {
    const {parse, ...rule} = flags[token.name] ?? {type: 'boolean'};
    if (rule.type === 'option' && parse !== undefined)
      await parseFlagValue({...rule, parse}, token, CRICTL_DIALECT);
  };
}

const crictlUnknownCommand = (name: string): string => `No help topic for '${name}'`;

/** Treats `help` as a subcommand of every command. */
function withHelpCommand(tokens: Tokens): Tokens {
  const [first = '', second] = tokens.positionals;
  if (tokens.help && first !== '') throw new UsageError(crictlUnknownCommand(first));
  if (!/^(help|h)$/.test(first)) return tokens;
  if (second !== undefined) throw new UnknownCommandError(crictlUnknownCommand(second));
  return {...tokens, help: true};
}
