import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {humanSize} from '../../../format/human-size.js';
import {judge, ok, shownFirst, skipped, warning, type Check} from '../check.js';
import {isMissing, valueOf} from '../fact.js';
import type {NodeSnapshot, SandboxFacts} from '../node-snapshot.js';

/** Age from which on a directory without a sandbox is orphaned: before, its pod may be starting. */
const START_MS = 120_000;
/** Number of exited containers that the garbage collection of a kubelet exceeds only for a short time. */
const MANY_EXITED = 100;
const SHOWN = 10;

/** Size of images that nothing uses from which on it is a warning. */
const MANY_UNUSED_BYTES = 20 * 1024 ** 3;

/** Checks of what deleted pods left behind. */
export const LEFTOVER_CHECKS: readonly Check[] = [
  {
    id: 'leftovers/pod-directories',
    title: 'directories of pods that do not exist',
    examine: (snapshot) => {
      const {sandboxes} = snapshot.runtime;
      const unread = snapshot.podDirs.find(({pods}) => 'error' in pods && !isMissing(pods))?.pods;
      const unknown = 'error' in sandboxes ? sandboxes : unread;
      if (unknown !== undefined && 'error' in unknown) return skipped(unknown.error);
      const orphans = orphanedDirs(snapshot);
      if (orphans.length === 0) return ok('none');
      return warning(`${counted(orphans.length, 'directory')} of pods without a sandbox`, {
        details: shownFirst(orphans.map(({path, modifiedAt}) => `${path}, last changed ${modifiedAt}`)),
        remedy: orphans
          .slice(0, 1)
          .map(({path}) => `findmnt -R ${shellQuote(path)}; ls -R ${shellQuote(path)}`),
      });
    },
  },
  {
    id: 'leftovers/mounts',
    title: 'mounts of pods that do not exist',
    examine: (snapshot) =>
      judge([snapshot.runtime.sandboxes, snapshot.mounts], (_, mounts) => {
        const orphans = new Set(orphanedDirs(snapshot).map(({path}) => path));
        const left = mounts.filter(({path}) => isBelow(path, orphans));
        if (left.length === 0) return ok('none');
        return warning(`${counted(left.length, 'mount')} of pods without a sandbox`, {
          details: shownFirst(left.map(({path, fileSystem}) => `${path} (${fileSystem})`)),
          remedy: left.slice(0, SHOWN).map(({path}) => `umount ${shellQuote(path)}`),
        });
      }),
  },
  {
    id: 'leftovers/sandboxes',
    title: 'sandboxes of containers',
    examine: ({runtime: {sandboxes, containers}}) =>
      judge([sandboxes, containers], (pods, all) => {
        const ids = new Set(pods.map(({id}) => id));
        const lost = all.filter(({sandboxId}) => !ids.has(sandboxId));
        const stopped = pods.filter(({isReady}) => !isReady);
        if (lost.length === 0)
          return ok(`${counted(pods.length, 'sandbox')}, ${stopped.length} of them stopped`);
        return warning(`${counted(lost.length, 'container')} without a sandbox`, {
          details: shownFirst(lost.map(({name, id}) => `${name} (${id.slice(0, 13)})`)),
          remedy: lost.slice(0, SHOWN).map(({id}) => ({kcri: ['rm', id.slice(0, 13)]})),
        });
      }),
  },
  {
    id: 'leftovers/exited-containers',
    title: 'exited containers',
    examine: ({runtime: {containers}}) =>
      judge([containers], (all) => {
        const exited = all.filter(({state}) => state === 'CONTAINER_EXITED');
        if (exited.length < MANY_EXITED) return ok(counted(exited.length, 'exited container'));
        return warning(`${exited.length} exited containers keep their disk space`, {
          remedy: [{kcri: ['system', 'prune']}],
        });
      }),
  },
  {
    id: 'leftovers/shims',
    title: 'shims without a sandbox or container',
    examine: ({runtime: {endpoint, sandboxes, containers}, processes}) =>
      judge([endpoint, sandboxes, containers, processes], (address, pods, all, {shims}) => {
        const ids = new Set([...pods, ...all].map(({id}) => id));
        const own = shims.filter(
          (shim) => shim.namespace === 'k8s.io' && address === `unix://${shim.address}`,
        );
        const left = own.filter(({id}) => !ids.has(id));
        if (left.length === 0) return ok(`${counted(own.length, 'shim')}, all with a sandbox or container`);
        return warning(`${counted(left.length, 'shim')} without a sandbox or container`, {
          details: shownFirst(left.map(({pid, id}) => `PID ${pid}: ${id}`)),
          remedy: left.slice(0, SHOWN).map(({pid}) => `kill ${pid}`),
        });
      }),
  },
  {
    id: 'leftovers/cgroups',
    title: 'cgroups of pods that do not exist',
    examine: (snapshot) => {
      const {runtime, podCgroups, takenAt} = snapshot;
      return judge([runtime.sandboxes, podCgroups], (pods, all) => {
        const known = knownUids(snapshot, pods);
        const left = all.filter(({uid, modifiedAt}) => !known.has(uid) && isOld(modifiedAt, takenAt));
        if (left.length === 0) return ok(`${counted(all.length, 'cgroup')} of pods, all of existing ones`);
        return warning(`${counted(left.length, 'cgroup')} of pods without a sandbox`, {
          details: shownFirst(left.map(({path}) => path)),
          remedy: left
            .slice(0, 3)
            .map(({path}) => `find ${shellQuote(path)} -depth -type d -exec rmdir {} +`),
        });
      });
    },
  },
  {
    id: 'leftovers/claims',
    title: 'claims that no pod uses',
    examine: ({podDirs}) => {
      const facts = podDirs.flatMap(({rootDir, unusedClaims}) =>
        unusedClaims === undefined ? [] : [{rootDir, unusedClaims}],
      );
      for (const {unusedClaims} of facts) if ('error' in unusedClaims) return skipped(unusedClaims.error);
      const unused = facts.flatMap(({rootDir, unusedClaims}) =>
        (valueOf(unusedClaims) ?? []).map((one) => ({rootDir, ...one})),
      );
      if (unused.length === 0) return ok('none');
      return warning(`${counted(unused.length, 'claim')} with data that no pod uses`, {
        details: shownFirst(
          unused.map(({claim, path, driver}) => `${claim}: ${path ?? `volume of the CSI driver ${driver}`}`),
        ),
        remedy: [
          'keep them, if their data is still needed; otherwise delete them with it:',
          ...unused.slice(0, SHOWN).map(({rootDir, claim}) => ({
            kcri: ['delete', '--volumes', `pvc/${claim}`, '--root-dir', rootDir],
          })),
        ],
      });
    },
  },
  {
    id: 'leftovers/volumes',
    title: 'volumes that were retained after their claims',
    examine: ({podDirs}) => {
      const facts = podDirs.flatMap(({rootDir, releasedVolumes}) =>
        releasedVolumes === undefined ? [] : [{rootDir, releasedVolumes}],
      );
      for (const {releasedVolumes} of facts)
        if ('error' in releasedVolumes) return skipped(releasedVolumes.error);
      const released = facts.flatMap(({rootDir, releasedVolumes}) =>
        (valueOf(releasedVolumes) ?? []).map((one) => ({rootDir, ...one})),
      );
      if (released.length === 0) return ok('none');
      return warning(`${counted(released.length, 'volume')} whose claim is gone, with data that is kept`, {
        details: shownFirst(
          released.map(
            ({name, claim, driver, handle}) =>
              `${name} of the claim ${claim}: volume ${handle} of the CSI driver ${driver}`,
          ),
        ),
        remedy: [
          'keep them, if their data is still needed; otherwise delete it with the tools of the driver, and forget the volumes:',
          ...[...new Set(released.map(({rootDir}) => rootDir))].map((rootDir) => ({
            kcri: ['get', 'volumes', '-o', 'wide', '--root-dir', rootDir],
          })),
          ...released.slice(0, SHOWN).map(({rootDir, name}) => ({
            kcri: ['delete', `pv/${name}`, '--root-dir', rootDir],
          })),
        ],
      });
    },
  },
  {
    id: 'leftovers/images',
    title: 'images that nothing uses',
    examine: ({runtime: {images, containers, config}}) =>
      judge([images, containers], (all, users) => {
        const used = new Set([
          ...users.flatMap((container) => container.images),
          valueOf(config)?.sandboxImage ?? '',
        ]);
        const unused = all.filter(
          ({id, tags, isPinned}) => !isPinned && ![id, ...tags].some((name) => used.has(name)),
        );
        const bytes = unused.reduce((sum, image) => sum + image.bytes, 0);
        const text = `${unused.length} of ${counted(all.length, 'image')} are used by no container: ${humanSize(bytes, 3)}`;
        if (bytes < MANY_UNUSED_BYTES) return ok(text);
        return warning(text, {
          details: shownFirst(
            unused
              .toSorted((a, b) => b.bytes - a.bytes)
              .map(({id, tags, bytes: size}) => `${tags[0] ?? id} (${humanSize(size, 3)})`),
          ),
          remedy: [{kcri: ['rmi', '--prune']}],
        });
      }),
  },
];

/** Returns the UIDs of the pods that the runtime or kcri knows. */
function knownUids({podDirs}: NodeSnapshot, pods: readonly SandboxFacts[]): ReadonlySet<string> {
  return new Set([...pods.map(({uid}) => uid), ...podDirs.flatMap(({records}) => valueOf(records) ?? [])]);
}

/** Reports whether something has existed for longer than a pod takes to start. */
function isOld(modifiedAt: string, takenAt: string): boolean {
  return Date.parse(takenAt) - Date.parse(modifiedAt) > START_MS;
}

/** Reports whether one of the directories contains a path. */
function isBelow(path: string, directories: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (directories.has(path.slice(0, end))) return true;
  return false;
}

/** Returns the directories of pods that neither the runtime nor kcri knows, and that are not new. */
function orphanedDirs({
  podDirs,
  runtime,
  takenAt,
}: NodeSnapshot): readonly {readonly path: string; readonly modifiedAt: string}[] {
  const sandboxes = 'value' in runtime.sandboxes ? runtime.sandboxes.value : [];
  return podDirs.flatMap(({rootDir, pods, records}) => {
    const known = new Set([...sandboxes.map(({uid}) => uid), ...('value' in records ? records.value : [])]);
    return ('value' in pods ? pods.value : [])
      .filter(({uid, modifiedAt}) => !known.has(uid) && isOld(modifiedAt, takenAt))
      .map(({uid, modifiedAt}) => ({path: `${rootDir}/pods/${uid}`, modifiedAt}));
  });
}
