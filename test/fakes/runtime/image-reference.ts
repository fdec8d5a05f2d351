import {createHash} from 'node:crypto';
import {unknownError} from './grpc-status-error.js';

/**
 * The full form of an image name, as containerd keeps it: `busybox` → `docker.io/library/busybox:latest`. Throws
 * containerd's refusal of a name that can't be one.
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
  const why = detail === undefined ? '' : `: ${detail}`;
  return unknownError(`failed to parse image reference "${name}": invalid reference format${why}`);
}

/** The image id that the fake gives to this content: a digest, the same at each run. */
export function fakeDigest(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
