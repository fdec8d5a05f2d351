import {SystemError} from '../../../../base/errors.js';
import type {ClaimInfo} from './claim-info.js';

/** Answer of a driver about a claim. */
interface ClaimAnswer {
  /** UID of the claim. */
  readonly key: string;
  readonly value?: {readonly error: string} | undefined;
}

/**
 * Requires that a driver has succeeded for exactly the claims that it was asked about.
 *
 * @throws SystemError with the kubelet's text.
 */
export function checkAnswers(
  method: 'NodePrepareResources' | 'NodeUnprepareResources',
  claims: readonly Pick<ClaimInfo, 'uid' | 'name'>[],
  answers: readonly ClaimAnswer[],
): void {
  for (const {key, value} of answers) {
    const claim = claims.find(({uid}) => uid === key);
    if (claim === undefined) throw new SystemError(`${method} returned result for unknown claim UID ${key}`);
    const {error = ''} = value ?? {};
    if (error !== '') throw new SystemError(`${method} failed for ResourceClaim ${claim.name}: ${error}`);
  }
  const unfinished = claims.length - new Set(answers.map(({key}) => key)).size;
  if (unfinished > 0) throw new SystemError(`${method} skipped ${unfinished} ResourceClaims`);
}
