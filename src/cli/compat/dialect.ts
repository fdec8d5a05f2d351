import {UsageError} from '../../base/errors.js';
import {NothingChosenError} from '../../operations/resolve.js';
import type {Dialect, Scope} from '../dialect.js';
import {HelpRequest} from '../help-request.js';
import {resolveSettings} from '../settings.js';
import type {Tokens} from '../tokenize.js';
import {ArgumentsError, FlagError, UnknownCommandError} from '../usage-errors.js';
import {crictlCommand} from './commands.js';
import {crictlAddress, findAsCrictl} from './endpoints.js';
import {tokenizeAsGo} from './tokenize.js';
import {validateServices} from './validate.js';
import {crictlVoice} from './voice.js';

/** crictl's dialect, faults that scripts may rely on included: help with success where a command line is wrong. */
export const CRICTL: Dialect = {
  tokenize: (argv, {command, own, shared}) =>
    command === undefined
      ? tokenizeAsGo(argv, {...shared, ...own}, {combinesShorts: false})
      : withHelpCommand(tokenizeAsGo(argv, own, {combinesShorts: combinesShorts(command)})),
  voice: crictlVoice,
  helpFor: (error, words, voice) => {
    if (error instanceof FlagError) return new HelpRequest(words, error);
    if (error instanceof ArgumentsError) return new HelpRequest(words);
    if (!(error instanceof NothingChosenError)) return undefined;
    voice.complain(error.message);
    return new HelpRequest(words);
  },
  ignoresArguments: (command) => crictlCommand(command).ignoresArguments === true,
  before: async ({globals, words}, context, voice) => {
    await resolveSettings(globals, context, {
      mayBeMissing: words[0] === 'config',
      onWarning: (text) => {
        voice.warn(text);
      },
    });
  },
  address: crictlAddress,
  find: findAsCrictl,
  check: validateServices,
};

const combinesShorts = (command: NonNullable<Scope['command']>): boolean =>
  crictlCommand(command).combinesShorts === true;

/** Every command has a command `help` of its own. */
function withHelpCommand(tokens: Tokens): Tokens {
  const [first = '', second] = tokens.positionals;
  if (tokens.help && first !== '') throw new UsageError(`No help topic for '${first}'`);
  if (!/^(help|h)$/.test(first)) return tokens;
  if (second !== undefined) throw new UnknownCommandError(second);
  return {...tokens, help: true};
}
