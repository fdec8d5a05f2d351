import type {AccessReviews, User} from '../../contract/access-reviews.js';
import type {AuthorizationPolicy} from './authorization-policy.js';
import type {RequestAttributes} from './request-attributes.js';

/** Reports whether a user may make a request to the node (authorizer.Authorizer). Rejects if that is unknown. */
export type Authorize = (user: User, attributes: RequestAttributes) => Promise<boolean>;

/** Authorizer that allows every request (AlwaysAllow). */
export const ALWAYS_ALLOW: Authorize = async () => await Promise.resolve(true);

/** Returns the authorizer of a policy file. */
export function authorizeByPolicy(policy: AuthorizationPolicy): Authorize {
  return async (user, attributes) => await Promise.resolve(policy(user, attributes));
}

/**
 * Returns the authorizer that asks the API server for each subresource, until one is allowed (mode Webhook). A failed
 * review rejects with {@link AuthorizationError}.
 */
export function authorizeByReview(reviews: Pick<AccessReviews, 'reviewAccess'>, nodeName: string): Authorize {
  return async (user, {verb, subresources}) => {
    for (const subresource of subresources) {
      try {
        if (await reviews.reviewAccess({user, verb, nodeName, subresource})) return true;
      } catch (error) {
        throw new AuthorizationError(user, {verb, subresource, cause: error});
      }
    }
    return false;
  };
}

/** A review that failed; the message is the kubelet's body of a 500 response. */
export class AuthorizationError extends Error {
  constructor(
    {name}: User,
    {
      verb,
      subresource,
      cause,
    }: {readonly verb: string; readonly subresource: string; readonly cause: unknown},
  ) {
    super(`Authorization error (user=${name}, verb=${verb}, resource=nodes, subresource=${subresource})`, {
      cause,
    });
  }
}
