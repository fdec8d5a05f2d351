import {answer} from './api-request.js';
import type {Handlers} from './api-call.js';

/** What a fake API server answers to reviews. */
export interface ReviewRules {
  /** Users by their bearer tokens. */
  readonly users?: Readonly<Record<string, object>>;
  /** Subresources of nodes that everyone may access; all by default. */
  readonly allowed?: readonly string[];
}

/** Adds the group of all users, as an API server does for each valid token. */
function authenticated(user: {readonly groups?: readonly string[]}): object {
  return {...user, groups: [...(user.groups ?? []), 'system:authenticated']};
}

/** Returns handlers of TokenReviews and SubjectAccessReviews. */
export function reviewHandlers({users = {}, allowed}: ReviewRules = {}): Handlers {
  return {
    'POST tokenreviews': ({request: {body = {}}, response}) => {
      const {token} = body['spec'] as {readonly token: string};
      const user = users[token];
      answer(response, 201, {
        ...body,
        status: user === undefined ? {} : {authenticated: true, user: authenticated(user)},
      });
    },
    'POST subjectaccessreviews': ({request: {body = {}}, response}) => {
      const {resourceAttributes} = body['spec'] as {resourceAttributes: {subresource: string}};
      const isAllowed = allowed?.includes(resourceAttributes.subresource) ?? true;
      answer(response, 201, {...body, status: {allowed: isAllowed}});
    },
  };
}
