import {lstat, mkdtemp, rm, symlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {counted} from '../../base/counted.js';
import type {CommandServices} from '../../cli/command/command-services.js';
import {withFileErrors} from '../../base/fs/files.js';
import {removeDirectoryAtExit, removeFileAtExit} from '../../base/fs/remove-at-exit.js';
import {canonicalEndpoint, recorderLink, recorderTarget, socketPath} from '../../cri/endpoint.js';
import type {Relay} from '../../recording/tap/relay.js';
import {checkRuntimeSocket, rejectForeignLink, removeAbandonedSocket} from './listen-path.js';
import {countConnections, SwappedSocket} from './swap-socket.js';

/** Sockets of a recorder: the one that clients connect to, and that of the runtime. */
export interface RecordPlace extends AsyncDisposable {
  /** Path that the recorder listens on. */
  readonly listenPath: string;
  /** Path of the runtime's socket. */
  readonly targetPath: string;
  /** Endpoint for clients. */
  readonly endpoint: string;
  /** Called when the recorder listens. */
  install(): Promise<void>;
  /** Does what has to be done while the recorder runs. Resolves when the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Ends the recording for clients. */
  uninstall(relay: Relay): Promise<void>;
}

type PlaceServices = Pick<CommandServices, 'context' | 'report' | 'signal'>;

/** Returns a place beside the runtime: at `listen`, or in a new temporary directory. Rejects with SystemError. */
export async function ownPlace(runtimePath: string, listen: string | undefined): Promise<RecordPlace> {
  await checkRuntimeSocket(runtimePath);
  const directory = listen === undefined ? await mkdtemp(join(tmpdir(), 'kcri-record-')) : undefined;
  const listenPath = directory === undefined ? listenPathOf(listen ?? '') : join(directory, 'cri.sock');
  const link = recorderLink(listenPath);
  if (directory === undefined) {
    await rejectForeignLink(link);
    await removeAbandonedSocket(listenPath);
    await rm(link, {force: true});
  }
  // A second Ctrl-C, which ends this process while the program goes on, must not leave it.
  const temporary = directory === undefined ? [] : [removeDirectoryAtExit(directory)];
  const installed: Disposable[] = [];
  return {
    listenPath,
    targetPath: runtimePath,
    endpoint: `unix://${listenPath}`,
    install: async () => {
      installed.push(removeFileAtExit(listenPath));
      // By this, kcri knows pods that it creates through the recorder as pods of the runtime.
      const runtime = socketPath(await canonicalEndpoint(`unix://${runtimePath}`));
      const target = recorderTarget((await lstat(listenPath)).ino, runtime);
      await withFileErrors('creating', link, () => symlink(target, link));
      installed.push(removeFileAtExit(link));
    },
    watch: async () => undefined,
    uninstall: () => {
      disposeAll(installed);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => {
      disposeAll(temporary);
      return Promise.resolve();
    },
  };
}

function disposeAll(disposables: readonly Disposable[]): void {
  for (const disposable of disposables) disposable[Symbol.dispose]();
}

/** Returns the path of `--listen`, which may be an endpoint or a relative path. Throws ConfigError. */
function listenPathOf(listen: string): string {
  return /^[a-z]+:/.test(listen) ? socketPath(listen) : resolve(listen);
}

/** Time for calls to end after the runtime's socket is back, in ms. */
const DRAIN_MS = 10_000;
/** Pause between two looks at the open calls, in ms. */
const DRAIN_PAUSE_MS = 50;

/** Returns a place at the runtime's own path. Rejects with SystemError. */
export async function swapPlace(
  {context: {clock}, report}: PlaceServices,
  path: string,
): Promise<RecordPlace> {
  const swapped = await SwappedSocket.prepare(path, () => {
    report.info(`kcri: put the socket "${path}" back, which a recorder that was killed had replaced`);
  });
  return {
    listenPath: swapped.paths.recorder,
    targetPath: swapped.paths.runtime,
    endpoint: `unix://${path}`,
    install: async () => {
      const existing = await countConnections(path);
      await swapped.install();
      if (existing > 0)
        report.warn(
          `${counted(existing, 'connection')} to "${path}" existed before: their calls are recorded when the ` +
            'clients connect again; restart a kubelet for that, its pods keep running',
        );
    },
    watch: async (signal) => {
      await swapped.watch(clock, signal, () => {
        report.info('kcri: the runtime has restarted; its new socket is replaced, too');
      });
    },
    uninstall: async (relay) => {
      await swapped[Symbol.asyncDispose]();
      relay.drain();
      const endsAt = clock.monotonic() + DRAIN_MS;
      if (await relay.hasOpenUnaryCalls())
        report.info('kcri: waiting up to 10 seconds for the calls in progress; Ctrl-C cuts them off');
      while ((await relay.hasOpenUnaryCalls()) && clock.monotonic() < endsAt)
        await clock.sleep(DRAIN_PAUSE_MS);
    },
    [Symbol.asyncDispose]: () => swapped[Symbol.asyncDispose](),
  };
}
