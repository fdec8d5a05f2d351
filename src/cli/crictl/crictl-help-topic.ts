import {UsageError} from '../../base/errors.js';
import {HelpRequest} from '../parsing/help-request.js';
import {FlagError, UnknownCommandError} from '../parsing/usage-errors.js';

/** Help of the command `help` itself, to the byte. */
const NAME =
  'NAME:\n    help - Shows a list of commands or help for one command\n\nUSAGE:\n    help [command options] [command]\n\n';
const OPTIONS = 'OPTIONS:\n   --help, -h  show help\n';
const HELP_OF_HELP = NAME + OPTIONS;
const HELP_WITH_COMMANDS = `${NAME}COMMANDS:\n   help, h  Shows a list of commands or help for one command\n\n${OPTIONS}`;

const HELP = /^h(elp)?$/;

function helpOfHelp(topic = 'help'): string {
  if (HELP.test(topic)) return HELP_OF_HELP;
  throw new UnknownCommandError(`No help topic for '${topic}'`);
}

/**
 * Returns what crictl's command `help` explains: its first argument. With --help it explains nothing but the program.
 * Throws UsageError and HelpRequest with crictl's message.
 */
export function crictlHelpTopic([first, second]: readonly string[]): readonly string[] | string {
  if (first === undefined || first === '') return [];
  if (HELP.test(first)) return helpOfHelp(second);
  const [, flag] = /^--?([^-=][^=]*)/.exec(first) ?? [];
  if (flag === undefined) return [first];
  if (!HELP.test(flag)) {
    const error = new FlagError(`flag provided but not defined: -${flag}`);
    throw new HelpRequest([], error, HELP_WITH_COMMANDS);
  }
  if (second !== undefined) throw new UsageError(`No help topic for '${second}'`);
  return [];
}
