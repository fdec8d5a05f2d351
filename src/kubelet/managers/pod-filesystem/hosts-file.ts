import {constants} from 'node:fs';
import {lstat} from 'node:fs/promises';
import {join} from 'node:path';
import type {HostAlias, Pod} from '../../../api/types/v1-pod.js';
import {createFile} from '../../../base/fs/atomic-write.js';
import {ifPresent, isAbsent, withFile, withFileErrors} from '../../../base/fs/files.js';
import {podDir, type NodeFacts} from '../../contract/node-facts.js';
import type {ContainerInstance} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';

/** Lines of the hosts file of every pod without host network. */
const STANDARD_LINES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** Input of hostsFileContent. */
export interface HostsFileInput {
  readonly podIps: readonly string[];
  readonly hostname: string;
  /** Empty without a subdomain. */
  readonly domain: string;
  readonly aliases: readonly HostAlias[];
  /** Names of Services; none by default. */
  readonly services?: readonly HostAlias[] | undefined;
}

/**
 * Returns the /etc/hosts of a pod without host network, byte for byte like the kubelet without `services`
 * (managedHostsFileContent).
 */
export function hostsFileContent({podIps, hostname, domain, aliases, services = []}: HostsFileInput): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  return lines(
    '# Kubernetes-managed hosts file.',
    ...STANDARD_LINES,
    ...podIps.map((ip) => `${ip}\t${names}`),
    ...aliasLines(aliases, HOST_ALIASES),
    ...aliasLines(services, SERVICES),
  );
}

/** Returns the /etc/hosts of a pod with host network: the node's file and the aliases (nodeHostsFileContent). */
export function hostNetworkHostsFileContent(
  nodeHostsFile: string,
  aliases: readonly HostAlias[],
  services: readonly HostAlias[] = [],
): string {
  const added = lines(...aliasLines(aliases, HOST_ALIASES), ...aliasLines(services, SERVICES));
  return `# Kubernetes-managed hosts file (host network).\n${nodeHostsFile}${added}`;
}

const HOST_ALIASES = '# Entries added by HostAliases.';
const SERVICES = '# Entries added by kcri for Services.';

function aliasLines(aliases: readonly HostAlias[], title: string): readonly string[] {
  if (aliases.length === 0) return [];
  return ['', title, ...aliases.map(({ip, hostnames = []}) => `${ip}\t${hostnames.join('\t')}`)];
}

function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/**
 * Reports whether a container gets the pod's hosts file: if the pod has an IP address, and the container does not mount
 * a volume at /etc/hosts (shouldMountHostsFile).
 */
export function needsHostsFile({pod, container, podIps}: ContainerInstance): boolean {
  const {volumeMounts = []} = container;
  const hasAddress = pod.spec.hostNetwork === true || podIps.length > 0;
  return hasAddress && volumeMounts.every(({mountPath}) => mountPath !== '/etc/hosts');
}

/** Writes in progress by path: Services may change while a container starts. */
const writes = new Map<string, Promise<void>>();

/**
 * Writes the pod's hosts file and returns its path (ensureHostsFile). An unchanged file is not written; a changed one
 * is overwritten in place, because running containers have this file mounted. Not fsynced: the content is compared with
 * each call. Rejects with SystemError.
 */
export async function writeHostsFile(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
  content: string,
): Promise<string> {
  const path = hostsFilePath(node, pod);
  await afterOtherWrites(path, () => writeIfChanged(path, content));
  return path;
}

/** Overwrites the pod's hosts file like writeHostsFile if it exists. Rejects with SystemError. */
export async function updateHostsFile(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
  content: string,
): Promise<void> {
  const path = hostsFilePath(node, pod);
  await afterOtherWrites(path, async () => {
    const exists = await withFileErrors('reading', path, () => ifPresent(() => lstat(path)));
    if (exists !== undefined) await writeIfChanged(path, content);
  });
}

function hostsFilePath(node: Pick<NodeFacts, 'rootDir'>, pod: Pod): string {
  return join(podDir(node, podRef(pod).uid), 'etc-hosts');
}

/** Runs `write` after the earlier ones of the path, so that the last call determines the content. */
async function afterOtherWrites(path: string, write: () => Promise<void>): Promise<void> {
  const others = writes.get(path) ?? Promise.resolve();
  const written = others.catch(() => undefined).then(write);
  writes.set(path, written);
  try {
    await written;
  } finally {
    if (writes.get(path) === written) writes.delete(path);
  }
}

async function writeIfChanged(path: string, content: string): Promise<void> {
  const isSame = await withFileErrors('reading', path, async () =>
    isAbsent(path) ? undefined : await ifPresent(() => hasContent(path, content)),
  );
  // A part that a killed process leaves is overwritten before a container starts.
  if (isSame === undefined) await withFileErrors('writing', path, () => createFile(path, content, 0o644));
  else if (!isSame)
    await withFileErrors('writing', path, () =>
      withFile(path, constants.O_WRONLY | constants.O_NOFOLLOW, 0, async (file) => {
        // Overwrite before truncating, so that a full disk does not leave an empty file.
        await file.writeFile(content);
        await file.truncate(Buffer.byteLength(content));
      }),
    );
}

/** Compares a file with `content` without reading more than its length. */
async function hasContent(path: string, content: string): Promise<boolean> {
  const expected = Buffer.from(content);
  return await withFile(path, constants.O_RDONLY | constants.O_NOFOLLOW, 0, async (file) => {
    if ((await file.stat()).size !== expected.length) return false;
    const {buffer, bytesRead} = await file.read(Buffer.alloc(expected.length), 0, expected.length, 0);
    return buffer.subarray(0, bytesRead).equals(expected);
  });
}
