import {createHash} from 'node:crypto';
import {unknownError} from './grpc-status-error.js';

/**
 * Normalizes an image name like containerd: `busybox` → `docker.io/library/busybox:latest`. Throws containerd's error
 * for an invalid name.
 */
export function normalizeImageName(name: string): string {
  const [path = '', digest] = name.split('@');
  const [, repository = '', tag] = /^(.+?)(?::([^/:]+))?$/.exec(path) ?? [];
  const full = withDomain(repository);
  const inside = full.slice(full.indexOf('/') + 1);
  if (/[A-Z]/.test(inside)) throw invalid(name, `repository name (${inside}) must be lowercase`);
  if (!/^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/.test(inside)) throw invalid(name);
  if (digest !== undefined) return `${full}@${digest}`;
  return `${full}:${tag ?? 'latest'}`;
}

function withDomain(repository: string): string {
  const [first = '', ...rest] = repository.split('/');
  if (rest.length === 0) return `docker.io/library/${first}`;
  return /[.:]/.test(first) || first === 'localhost' ? repository : `docker.io/${repository}`;
}

function invalid(name: string, detail?: string): Error {
  const reason = detail === undefined ? '' : `: ${detail}`;
  return unknownError(`failed to parse image reference "${name}": invalid reference format${reason}`);
}

/** Returns the fake's image ID for this content: a digest, the same in each run. */
export function fakeDigest(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
