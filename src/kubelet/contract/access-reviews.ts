/** User that makes a request to the kubelet (authentication/user.Info). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request whose authorization is asked for: a verb on a subresource of the node. */
export interface NodeAccess {
  readonly user: User;
  readonly verb: string;
  readonly nodeName: string;
  readonly subresource: string;
}

/** Reviews by the API server, as the kubelet delegates them. */
export interface AccessReviews {
  /**
   * Resolves with the user of a bearer token; undefined if the token is invalid (TokenReview). Rejects with
   * TooManyReviewsError, and with the errors of requests.
   */
  reviewToken(token: string): Promise<User | undefined>;
  /** Reports whether a user may make a request (SubjectAccessReview). Rejects like `reviewToken`. */
  reviewAccess(access: NodeAccess): Promise<boolean>;
}

/** Too many reviews are in progress. */
export class TooManyReviewsError extends Error {
  constructor() {
    super('too many reviews are in progress');
  }
}
