import type {Clock} from '../../../base/clock.js';
import {unlessAborted} from '../../../base/unless-aborted.js';
import type {KubeImageService} from '../../container/services.js';
import {loginHash, type PullCredential} from '../credentials/keyring.js';
import {parseImageName, type ImageName} from '../image-name.js';
import {knownSecret, withAccess, type PullAccess, type PulledRecord} from './pulled-record.js';
import type {PullRecords} from './pull-records.js';
import {mustVerify, type VerificationPolicy} from './verification-policy.js';

/** An image as a pod asks for it. */
export interface WantedImage {
  /** As the Pod writes it: intents go by it. */
  readonly image: string;
  /** Complete and without tag and digest: accesses go by it. */
  readonly repository: string;
}

/** More Secrets than this are not noted only because they match: namespaces come and go. */
const MOST_NOTED_SECRETS = 100;

/**
 * Keeps which images were pulled with whose credentials, so that no pod gets to use an image on the node that it could
 * not have pulled (pullmanager/image_pull_manager.go).
 */
export class PullManager {
  readonly #records: PullRecords;
  readonly #policy: VerificationPolicy;
  readonly #clock: Clock;
  /** The pulls of an image that this process has under way. */
  readonly #underWay = new Map<string, readonly AsyncDisposable[]>();
  #settled: Promise<void> | undefined;

  constructor(records: PullRecords, policy: VerificationPolicy, clock: Clock) {
    this.#records = records;
    this.#policy = policy;
    this.#clock = clock;
  }

  /**
   * Turns the intents that killed processes left into records: what came of them is known to be pulled, but not with
   * which credentials, so that nobody may use it without a pull. Those of images that never came are removed. Done once
   * for all callers, none of whose signals ends it; rejects with SystemError, CriError or the signal's reason.
   */
  async settleIntents(images: Pick<KubeImageService, 'listImages'>, signal: AbortSignal): Promise<void> {
    this.#settled ??= this.#settle(images).catch((error: unknown) => {
      this.#settled = undefined;
      throw error;
    });
    await unlessAborted(this.#settled, signal);
  }

  async #settle(images: Pick<KubeImageService, 'listImages'>): Promise<void> {
    await this.#records.settleIntents(async (intents) => {
      const present = (await images.listImages({})).images;
      const settled: string[] = [];
      for (const intent of intents) {
        const parsed = parseImageName(intent);
        if (parsed.kind === 'invalid') continue;
        const found = present.find(({repoTags, repoDigests}) =>
          namesOf(parsed.name).some((name) => repoTags.includes(name) || repoDigests.includes(name)),
        );
        if (found !== undefined) await this.#note(found.id, parsed.name.repository, undefined);
        settled.push(intent);
      }
      return settled;
    });
  }

  /** Before a pull: should kcri be killed in it, the image isn't taken for one that was there before. */
  async begin(image: string): Promise<void> {
    const pull = await this.#records.writeIntent(image);
    this.#underWay.set(image, [...(this.#underWay.get(image) ?? []), pull]);
  }

  /** After a pull that was begun and brought nothing. */
  async failed(image: string): Promise<void> {
    const [pull, ...others] = this.#underWay.get(image) ?? [];
    if (others.length === 0) this.#underWay.delete(image);
    else this.#underWay.set(image, others);
    await pull?.[Symbol.asyncDispose]();
    await this.#records.deleteIntent(image);
  }

  /** After a pull that was begun and brought `imageRef`, with a credential or without. When it rejects, the intent stays. */
  async pulled(
    {image, repository}: WantedImage,
    imageRef: string,
    credential: PullCredential | undefined,
  ): Promise<void> {
    await this.#note(imageRef, repository, accessOf(credential));
    await this.failed(image);
  }

  /** False when the pod may use the image that is on the node; `credentials` are asked for only when they decide. */
  async mustPull(
    {image, repository}: WantedImage,
    imageRef: string,
    credentials: () => Promise<readonly PullCredential[]>,
  ): Promise<boolean> {
    const record = await this.#find(image, imageRef);
    if (record === 'unreadable') return true;
    if (!mustVerify(this.#policy, image, record !== undefined)) return false;
    const access = record === 'intent' ? undefined : record?.credentialMapping[repository];
    if (access === undefined) return true;
    if (access.nodePodsAccessible === true) return false;
    const {kubernetesSecrets = []} = access;
    // A service account alone can't be shown: kcri has no API server that would give its token.
    if (kubernetesSecrets.length === 0) return true;
    const shown = accessOfAll(await credentials());
    const known = knownSecret(access, shown);
    if (known === undefined) return true;
    if (kubernetesSecrets.length < MOST_NOTED_SECRETS)
      await this.#note(imageRef, repository, {kubernetesSecrets: [known]});
    return false;
  }

  async #find(image: string, imageRef: string): Promise<PulledRecord | 'intent' | 'unreadable' | undefined> {
    try {
      const record = await this.#records.readPulled(imageRef);
      if (record !== undefined) return record;
      return this.#underWay.has(image) || (await this.#records.hasIntent(image)) ? 'intent' : undefined;
    } catch {
      // What can't be read can't let anybody in; the pull that follows replaces it, or fails with what is wrong.
      return 'unreadable';
    }
  }

  async #note(imageRef: string, repository: string, access: PullAccess | undefined): Promise<void> {
    const nowMs = this.#clock.now();
    await this.#records.updatePulled(imageRef, (record) =>
      withAccess(record, {imageRef, repository, access, nowMs}),
    );
  }
}

/** The names by which a runtime lists an image. */
function namesOf({repository, tag, digest}: ImageName): readonly string[] {
  return [
    ...(tag === undefined ? [] : [`${repository}:${tag}`]),
    ...(digest === undefined ? [] : [`${repository}@${digest}`]),
  ];
}

/** What a pull with a credential shows: whoever has the same may use the image, and everybody what took none of a pod's. */
function accessOf(credential: PullCredential | undefined): PullAccess {
  if (credential?.secret === undefined) return {nodePodsAccessible: true};
  return {kubernetesSecrets: accessOfAll([credential])};
}

function accessOfAll(credentials: readonly PullCredential[]): NonNullable<PullAccess['kubernetesSecrets']> {
  return credentials.flatMap(({login, secret}) =>
    secret === undefined
      ? []
      : [
          {
            uid: secret.uid,
            namespace: secret.namespace,
            name: secret.name,
            credentialHash: loginHash(login),
          },
        ],
  );
}
