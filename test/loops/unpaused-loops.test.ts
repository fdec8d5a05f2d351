import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {findUnpausedLoops} from './unpaused-loops.js';

const SRC = join(import.meta.dirname, '../../src');

/** Folders whose loops run in the daemon. */
const FOLDERS = ['kubelet', 'features/kubelet', 'kube-api'];

/** Loops that need no pause, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'kube-api/reflector.ts: #listAndWatch':
    'waits for the end of a watch; a short one without events is an error',
  'kube-api/reflector.ts: #streamObjects': 'repeats once, with any version',
  'kube-api/resource.ts: createCollection': 'ends with the last page',
  'kube-api/transport/http2-transport.ts: send': 'waits for a connection that has room',
  'kubelet/cluster/node/volumes-in-use.ts: untilAttached': 'waits for a change of the Node',
  'kubelet/cluster/pods/api-status-manager.ts: run': 'a turn without a pause takes a pod from a queue',
  'kubelet/foreground/sync-job.ts: run': 'waits for the end of a pod',
  'kubelet/managers/cgroups/systemd-slices.ts: #waitFor':
    'waits for the end of a job of systemd, up to a limit',
  'kubelet/managers/dra/allocation/run-in-steps.ts: runInSteps': 'ends with the work, or at a limit',
  'kubelet/managers/http/http-get.ts: httpGet': 'ends after 10 redirects',
  'kubelet/managers/logs/log-directory.ts: readChunks': 'ends with the file',
  'kubelet/managers/network/local-services.ts: #waitUntil': 'waits for a change, up to a limit',
  'kubelet/managers/volumes/volume-manager.ts: runOperations':
    'waits for the end of an operation or the time of the next',
  'kubelet/node/read-node-facts.ts: readEphemeralStorage': 'ends at the root directory',
  'kubelet/managers/pleg/generic-pleg.ts: run': 'a relist that was requested meanwhile follows at once',
  'kubelet/managers/pod-filesystem/read-env-file.ts: readFully': 'ends with the file',
  'kubelet/managers/probes/probe-worker.ts: run':
    'a missed tick is made up for at once, and the next one is later',
  'kubelet/managers/probes/run-probe.ts: withRetries': 'ends after a few attempts',
  'kubelet/sources/fetch-manifest.ts: fetchManifest': 'ends after 10 redirects',
  'kubelet/managers/shutdown/shutdown-manager.ts: #handleAnnouncements':
    'waits for an announcement of logind, or for the end of the bus',
  'kubelet/managers/volumes/bind-sub-paths.ts: bindAt': 'ends with the last mount of the path',
  'kubelet/managers/volumes/plugins/iscsi/attach-iscsi.ts: attach': 'ends after five attempts',
  'kubelet/managers/volumes/mounter.ts: unmountBelow':
    'ends with the last mount, or if one cannot be unmounted',
  'kubelet/pods/history/pod-file-store.ts: appendWhole': 'ends with the bytes to write',
  'kubelet/pods/workers/pod-workers.ts: #run': 'a turn does the work that was requested meanwhile',
};

const loopIn = (body: string): string => `async function f() { ${body} }`;

test.each([
  'for (;;) { await work(); await pause(clock, ms); }',
  'for (let i = 0; ; i = await pause(clock, 1)) await work();',
  'while (!signal.aborted) { if (await x()) await pause(clock, 1); else await pause(clock, 2); }',
  'for (;;) { try { await work(); } catch (error) { log(error); } await pause(clock, 1).catch(ignore); }',
  'for (;;) { if (a) { await pause(clock, 1); continue; } await this.#queue.next(signal); }',
  'for (;;) { if (a) return; await wait(); } async function wait() { if (b) await pause(clock, 1); else await pause(clock, 2); }',
  'do { await pause(clock, 1); } while (a);',
  'for (let i = 0; i < 3; i += 1) await work();',
  'while (a) work();',
  'while (a) start(async () => await work());',
])('a loop may be %s', (loop) => {
  expect(findUnpausedLoops(loopIn(loop))).toEqual([]);
});

test.each([
  'for (;;) await work();',
  'while (a) { const ms = next(); if (ms > 0) await pause(clock, ms); }',
  'for (;;) { await work(); await clock.sleep(ms); }',
  'for (;;) { try { await work(); await pause(clock, 1); } catch (error) { log(error); } }',
  'for (;;) { await work(); if (a) continue; await pause(clock, 1); }',
  'for (;;) await wait(); async function wait() { if (a) return; await pause(clock, 1); }',
  'for (;;) { await work(); a && (await pause(clock, 1)); }',
  'for (;;) { await work(); void (async () => { await pause(clock, 1); })(); }',
])('a loop may not be %s', (loop) => {
  expect(findUnpausedLoops(loopIn(loop))).toEqual(['f']);
});

test('every loop of the daemon without a bound waits in each turn', () => {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(SRC, folder), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        findUnpausedLoops(readFileSync(join(SRC, folder, name), 'utf8')).map(
          (loop) => `${folder}/${name}: ${loop}`,
        ),
      ),
  );
  expect(found.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});
