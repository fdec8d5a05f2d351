import {formatAggregate, KcriError} from '../../../base/errors.js';
import type {SyncFailure} from '../../contract/sync-result.js';

/** Failure of a pull with every available credential. */
export class ImagePullError extends KcriError {
  readonly code = 'IMAGE_PULL';

  /** `problems` explain why further credentials were unavailable; they become part of the hint. */
  constructor(causes: readonly unknown[], problems: readonly string[]) {
    const hints = causes.map((cause) => (cause instanceof KcriError ? cause.hint : undefined));
    const hint = [hints.find((text) => text !== undefined), ...problems].filter((text) => text !== undefined);
    super(formatAggregate(causes), {
      cause: causes[0],
      hint: hint.length === 0 ? undefined : hint.join('; '),
    });
  }
}

/** Message prefixes by which runtimes mark kinds of failures (cri-api pkg/errors). */
const FAILURE_PREFIXES = [
  ['RegistryUnavailable', 'the registry is unavailable'],
  ['SignatureValidationFailed', 'the signature validation failed'],
] as const;

/** Returns the waiting reason and message of a failed pull; `image` is the name in the pod spec (evalCRIPullErr). */
export function explainPullError(image: string, message: string): Pick<SyncFailure, 'reason' | 'message'> {
  for (const [reason, cause] of FAILURE_PREFIXES)
    if (message.startsWith(reason))
      return {
        reason,
        message: `image pull failed for ${image} because ${cause}${message.slice(reason.length)}`,
      };
  return {reason: 'ErrImagePull', message};
}
