import type {Config} from '@oclif/core/interfaces';
import {processCalledAs} from '../cli/process/called-as.js';
import {createProcessContext, type CliContext} from '../cli/process/context.js';
import {KCRI_DIALECT, type Dialect, type CommandLineStart} from '../cli/dialect/dialect.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {findCommand, isAliasAndTopic, isTopic} from '../cli/catalog/find-command.js';
import {GLOBAL_FLAGS} from '../cli/flags/global-flags.js';
import {HelpRequest} from '../cli/parsing/help-request.js';
import {interruptSignal} from '../cli/process/interrupt.js';
import {Output, createFlushDeadline, wantsColor} from '../cli/output/output.js';
import {parseFlagValues, pickGivenValues} from '../cli/parsing/parse-values.js';
import {isSet} from '../cli/parsing/tokenize.js';
import type {UnknownCommandError} from '../cli/parsing/usage-errors.js';
import type {Reporter} from '../cli/output/reporter.js';

/** Runs the command line of this process like main. A process that ends before the command has failed, and says so. */
export async function runProcess(argv: readonly string[], context?: CliContext): Promise<number> {
  let hasEnded = false;
  // Stays: Node.js would compile what removes listeners.
  process.on('beforeExit', () => {
    if (!hasEnded) reportEarlyEnd();
  });
  try {
    return await main(argv, context);
  } finally {
    hasEnded = true;
  }
}

function reportEarlyEnd(): void {
  process.exitCode = EXIT.failed;
  process.stderr.write(
    'kcri: the process ended before the command did, which is a fault of kcri\nhint: report it with the command line\n',
  );
}

/** Runs one command line and resolves with the exit code; never rejects. Loads only the file of the named command. */
export async function main(argv: readonly string[], context = createInterruptibleContext()): Promise<number> {
  const dialect = await dialectOf(context);
  let stderr: Output | undefined;
  const reporter = dialect.createReporter(
    {
      write: (text) => {
        stderr ??= new Output(context.stderr, 'standard error');
        stderr.write(text);
      },
      isDebug: () => false,
      usage: () => 'hint: "kcri --help" lists commands and options',
    },
    context,
  );
  try {
    const given = await exactArguments(argv);
    // A kubelet has no commands.
    const line = context.calledAs === 'kubelet' ? ['kubelet', ...given] : given;
    return await dispatch(line, {context, dialect, reporter: reporter});
  } catch (error) {
    const exitCode = reporter.fail(error);
    reporter.flush();
    using limit = createFlushDeadline(context);
    // Failure to write messages does not change the result.
    await stderr?.flush(limit.signal).catch(() => undefined);
    return exitCode;
  }
}

/** Returns the arguments with the bytes that Node.js could not decode. */
async function exactArguments(argv: readonly string[]): Promise<readonly string[]> {
  if (!argv.some((argument) => argument.includes('\uFFFD'))) return argv;
  return (await import('../cli/parsing/raw-arguments.js')).withInvalidBytes(argv);
}

/** Returns the context of this process, interrupted by Ctrl-C and SIGTERM. `program` defaults to that of a script. */
export function createInterruptibleContext(program?: readonly string[]): CliContext {
  const compat = processCalledAs(program) === 'crictl';
  const context = createProcessContext(interruptSignal({compat}), program);
  return Object.assign(context, {ownsProcess: true});
}

/** Returns the dialect of a run. Loads another than kcri's own only if it is used. */
async function dialectOf({calledAs}: CliContext): Promise<Dialect> {
  switch (calledAs) {
    case 'crictl':
      return (await import('./crictl-dialect.js')).CRICTL_DIALECT;
    case 'kubelet':
      return (await import('./kubelet-dialect.js')).KUBELET_DIALECT;
    case 'kcri':
      return KCRI_DIALECT;
  }
}

/** Environment of one run of a command line. */
interface Run {
  readonly context: CliContext;
  readonly dialect: Dialect;
  readonly reporter: Reporter;
}

interface Leading extends CommandLineStart {
  readonly version: boolean;
}

/** Runs the command, or shows the help that was requested or that crictl prints for an error. */
async function dispatch(argv: readonly string[], run: Run): Promise<number> {
  try {
    return await runCommand(await leadingFlags(argv, run), run);
  } catch (error) {
    const request = error instanceof HelpRequest ? error : run.dialect.helpFor(error, [], run.reporter);
    if (request === undefined) throw error;
    const incorrect = request.error === undefined ? '' : `Incorrect Usage: ${request.error.message}\n\n`;
    if (request.text === undefined) await help(request.words, run, incorrect);
    else await print(incorrect + request.text, run.context);
    if (request.error !== undefined) throw request.error;
    return EXIT.ok;
  }
}

async function runCommand(line: Leading, run: Run): Promise<number> {
  const {context, dialect, reporter} = run;
  const {globals, version, words} = line;
  if (version) return await print(`${dialect.version()}\n`, context);
  await dialect.beforeCommand(line, context, reporter);
  const [first] = words;
  if (first === undefined) throw new HelpRequest([]);
  if (first === 'help' || first === 'h') {
    const topic = dialect.helpTopic(words.slice(1));
    return typeof topic === 'string' ? await print(topic, context) : await help(topic, run);
  }
  const found = findCommand(words, dialect);
  if (found !== undefined) {
    // Any command would request the same help after it is loaded.
    if (found.argv.length === 1 && found.argv[0] === '--help')
      throw new HelpRequest(words.length === 2 ? [first] : found.words);
    const command = await found.load();
    return await new command(found.argv, NO_PLUGINS, {context, dialect, globals}).execute();
  }
  if (isTopic(first, dialect)) return await topic(words, run);
  throw await unknownCommand([first], dialect);
}

const VERSION = {version: {type: 'boolean', char: 'v'}} as const;

/** Returns the global flags before the command, and the remaining words. Rejects with HelpRequest and UsageError. */
async function leadingFlags(argv: readonly string[], {context, dialect}: Run): Promise<Leading> {
  const scope = {
    command: undefined,
    own: VERSION,
    shared: GLOBAL_FLAGS,
    flagsEndAfter: () => true,
    env: context.env,
  };
  const tokens = await dialect.tokenize(argv, scope);
  if (tokens.help) throw new HelpRequest([]);
  const globals = pickGivenValues(await parseFlagValues(GLOBAL_FLAGS, tokens.flags, dialect), tokens);
  return {
    globals,
    version: isSet(tokens.flags, 'version'),
    words: tokens.positionals,
  };
}

/** Minimal oclif Config of Command; the full Config scans the package and its plugins. */
const NO_PLUGINS = {bin: 'kcri'} as Config;

/** Shows the help of a topic (`kcri runtime`). Rejects for an unknown subcommand (`kcri runtime foo`). */
async function topic(words: readonly string[], run: Run): Promise<number> {
  const [first = '', second] = words;
  if (second === undefined || /^(help|--help|-h)$/.test(second)) return await help([first], run);
  throw await unknownCommand([first, second], run.dialect);
}

/** Prints help, preceded by `before`. Rejects with UnknownCommandError. */
async function help(words: readonly string[], {context, dialect}: Run, before = ''): Promise<number> {
  if (dialect.helpText !== undefined) return await print(await dialect.helpText(), context);
  const {helpText} = await import('./help.js');
  const [first] = words;
  const isOnlyTopic = words.length === 1 && first !== undefined && isAliasAndTopic(first, dialect);
  const found = isOnlyTopic ? undefined : findCommand(words, dialect);
  if (first !== undefined && found === undefined && !isTopic(first, dialect))
    throw await unknownCommand(words, dialect);
  const title = words.length === 0 ? dialect.helpTitle : '';
  return await print(before + title + (await helpText(found?.words ?? words, dialect.program)), context);
}

/** Returns the error for an unknown command; its suggestions are loaded only for it. */
async function unknownCommand(words: readonly string[], dialect: Dialect): Promise<UnknownCommandError> {
  const {unknownCommandError} = await import('../cli/catalog/unknown-command.js');
  return unknownCommandError(words, dialect);
}

/** Prints text that may contain colors. */
async function print(text: string, context: CliContext): Promise<number> {
  const {stdout, env} = context;
  const output = new Output(stdout, 'standard output');
  output.write(wantsColor(env, output) ? text : (await import('node:util')).stripVTControlCharacters(text));
  using limit = createFlushDeadline(context);
  await output.flush(limit.signal);
  return EXIT.ok;
}
