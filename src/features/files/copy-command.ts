import type {Readable} from 'node:stream';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {counted} from '../../base/counted.js';
import {anySignal} from '../../base/async/any-signal.js';
import {UsageError} from '../../base/errors.js';
import {humanSize} from '../../format/human-size.js';
import {copyFiles, type CopyDestination, type CopySource} from '../../operations/files/copy-files.js';
import {openContainerView} from '../../operations/files/open-container-view.js';
import {openLocalView, type FileSystemView} from '../../operations/files/file-system-view.js';
import type {
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  ResolvingContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {ConflictError} from '../../cli/parsing/usage-errors.js';
import {withElapsedTime} from '../../cli/output/elapsed-time.js';
import {actOnContainer} from './act-on-container.js';
import {parseCopyPaths, type CopyPathWord} from './parse-copy-path.js';

/** Values of the flags of `cp`. */
export interface CopyFlags {
  readonly container?: string | undefined;
  readonly 'follow-link': boolean;
  readonly archive: boolean;
  readonly 'no-preserve': boolean;
}

/** Runs `cp` with the two paths of the command line. Rejects with KcriError. */
export async function runCopy(
  services: RuntimeContext & DialectContext & OutputContext & ResolvingContext,
  words: readonly string[],
  flags: CopyFlags,
): Promise<void> {
  const [from, to] = parseCopyPaths(words);
  if (flags.archive && flags['no-preserve'])
    throw new ConflictError('--archive and --no-preserve are mutually exclusive');
  rejectTerminals(services, from, to);
  const refs = [from, to].flatMap((word) => (word.kind === 'container' ? [word.ref] : []));
  if (flags.container !== undefined && refs.length > 1)
    throw new UsageError('--container cannot be used with two containers', {
      hint: 'name them as POD/CONTAINER:PATH',
    });
  await using source = await openView(services, from, flags, false);
  await using destination = await openView(services, to, flags, true);
  await copyWithProgress(
    services,
    source === undefined
      ? {kind: 'archive', input: readInput(services)}
      : {kind: 'path', view: source, path: pathOf(from)},
    destination === undefined
      ? {kind: 'archive', write: createOutput(services)}
      : {kind: 'path', view: destination, path: pathOf(to)},
    flags,
  );
}

function pathOf(word: CopyPathWord): string {
  return word.kind === 'stream' ? '' : word.path;
}

function rejectTerminals(
  {context, out}: EnvironmentContext & OutputContext,
  from: CopyPathWord,
  to: CopyPathWord,
): void {
  if (from.kind === 'stream' && context.stdin.isTTY === true)
    throw new UsageError('cannot read an archive from a terminal', {
      hint: 'pipe one in: tar c . | kcri cp - …',
    });
  if (to.kind === 'stream' && out.stdout.isTerminal)
    throw new UsageError('cannot write an archive to a terminal', {
      hint: 'redirect it: kcri cp … - > archive.tar',
    });
}

async function openView(
  services: RuntimeContext & DialectContext & ResolvingContext,
  word: CopyPathWord,
  {container}: CopyFlags,
  isWritten: boolean,
): Promise<FileSystemView | undefined> {
  if (word.kind === 'stream') return undefined;
  if (word.kind === 'local') return await openLocalView();
  const {connections, signal} = services;
  const connection = await connections.default();
  const endpoint = await connections.endpoint();
  const options = {endpoint, path: word.path, isWritten, signal};
  return await actOnContainer(
    services,
    connection,
    {ref: word.ref, container},
    async (target) => await openContainerView(connection, target, options),
  );
}

/** Returns the chunks of standard input. A reader that waits for input ends with the command. */
async function* readInput({
  context,
  signal,
}: EnvironmentContext & SignalContext): AsyncGenerator<Buffer, void, undefined> {
  const input: Readable = context.stdin;
  const forget = onAbort(signal, () => void input.destroy(signal.reason as Error));
  try {
    for await (const chunk of input as AsyncIterable<Buffer | string>) yield Buffer.from(chunk as Buffer);
  } finally {
    forget();
  }
}

function createOutput({out, signal}: OutputContext & SignalContext): (chunk: Buffer) => Promise<void> {
  return async (chunk) => {
    // The chunk may be reused before the output has taken it.
    out.stdout.write(Buffer.from(chunk));
    await out.stdout.ready(signal);
  };
}

async function copyWithProgress(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  source: CopySource,
  destination: CopyDestination,
  flags: CopyFlags,
): Promise<void> {
  const {context, out, report, signal: interrupted} = services;
  const {closed} = out.stdout;
  using either = anySignal(interrupted, closed);
  const {signal} = either;
  let files = 0;
  let bytes = 0;
  const work = copyFiles(source, destination, {
    followsLink: flags['follow-link'],
    preserves: !flags['no-preserve'],
    onSkip: (path, reason) => {
      report.warn(`skipping ${JSON.stringify(path)}: ${reason}`);
    },
    onWarning: report.warn,
    onProgress: (moreFiles, moreBytes) => {
      files += moreFiles;
      bytes += moreBytes;
    },
    signal,
  });
  const activity = (): string => `copying ${counted(files, 'file')}, ${humanSize(bytes)}`;
  try {
    await withElapsedTime(work, {activity, output: out.stderr, context});
  } catch (error) {
    // The reader of the archive has read what it wanted.
    if (!closed.aborted || interrupted.aborted) throw error;
  }
}
