import {expect, test} from 'vitest';
import {
  mustVerify,
  type VerificationPolicy,
} from '../../../../../src/kubelet/managers/images/pull-manager/verification-policy.js';

const allowed = (...images: readonly string[]): VerificationPolicy => ({
  kind: 'NeverVerifyAllowlistedImages',
  images,
});

test.each<readonly [VerificationPolicy, string, boolean, boolean]>([
  [{kind: 'NeverVerify'}, 'r.example/app', true, false],
  [{kind: 'NeverVerifyPreloadedImages'}, 'r.example/app', true, true],
  [{kind: 'NeverVerifyPreloadedImages'}, 'r.example/app', false, false],
  [{kind: 'AlwaysVerify'}, 'r.example/app', false, true],
  [allowed('r.example/app'), 'r.example/app', true, false],
  [allowed('r.example/app'), 'r.example/app2', false, true],
  [allowed('r.example/app'), 'r.example/app/deep', false, true],
  [allowed('s.example/x', 'r.example/*'), 'r.example/team/app', true, false],
  [allowed('r.example/*'), 'r.example.org/app', false, true],
])('%j of %s, pulled by kcri %s, requires verification: %s', (policy, image, pulled, verify) => {
  expect(mustVerify(policy, image, pulled)).toBe(verify);
});
