import {KcriError, messageOf} from '../../base/errors.js';
import {CriError} from '../../cri/index.js';
import type {SyncFailure} from '../container/sync-result.js';

/** A pull that failed, with each credential that there was for it. */
export class ImagePullError extends KcriError {
  readonly code = 'IMAGE_PULL';

  /** `problems` are why credentials were not there that might have helped. */
  constructor(causes: readonly unknown[], problems: readonly string[]) {
    const texts = [...new Set(causes.map(pullErrorText))];
    const hints = causes.map((cause) => (cause instanceof KcriError ? cause.hint : undefined));
    const hint = [hints.find((text) => text !== undefined), ...problems].filter((text) => text !== undefined);
    // Several are written as Go's aggregates are.
    super(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`, {
      cause: causes[0],
      hint: hint.length === 0 ? undefined : hint.join('; '),
    });
  }
}

/** What the CRI client makes of a failed pull: a code that says nothing is left out (cri-client PullImage). */
function pullErrorText(error: unknown): string {
  return error instanceof CriError && error.grpcCode === 'UNKNOWN' ? error.details : messageOf(error);
}

/** Runtimes mark two kinds of failure by how their text begins (cri-api pkg/errors). */
const MARKED_FAILURES = [
  ['RegistryUnavailable', 'the registry is unavailable'],
  ['SignatureValidationFailed', 'the signature validation failed'],
] as const;

/** The waiting reason and message of a failed pull; `image` as the Pod writes it (evalCRIPullErr). */
export function explainPullError(image: string, message: string): Pick<SyncFailure, 'reason' | 'message'> {
  for (const [reason, why] of MARKED_FAILURES)
    if (message.startsWith(reason))
      return {
        reason,
        message: `image pull failed for ${image} because ${why}${message.slice(reason.length)}`,
      };
  return {reason: 'ErrImagePull', message};
}
