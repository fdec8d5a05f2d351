import type {Clock} from '../../../../base/clock.js';
import {abortable} from '../../../../base/async/abortable.js';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {KubeImageService} from '../../../contract/kube-services.js';
import {loginHash, type PullCredential} from '../credentials/keyring.js';
import {parseImageName, type ImageName} from '../../../../base/parse-image-name.js';
import {
  findKnownSecret,
  mergePullAccess,
  type PullAccess,
  type ImagePulledRecord,
} from './image-pulled-record.js';
import type {PullRecordsAccessor} from './pull-records-accessor.js';
import {mustVerify, type VerificationPolicy} from './verification-policy.js';

/** An image that a pod requests. */
export interface RequestedImage {
  /** Name in the pod spec; key of pull intents. */
  readonly image: string;
  /** Full repository name without tag and digest; key of credential mappings. */
  readonly repository: string;
}

/** Limit of Secrets recorded per repository because they match a recorded one. */
const MAX_RECORDED_SECRETS = 100;

/**
 * Records which images were pulled with which credentials, so that no pod uses an image on the node that it could not
 * pull itself (pullmanager/image_pull_manager.go).
 */
export class ImagePullManager {
  readonly #records: PullRecordsAccessor;
  readonly #policy: VerificationPolicy;
  readonly #clock: Clock;
  /** Running pulls of this process by image. */
  readonly #activePulls = new Map<string, readonly AsyncDisposable[]>();
  #recovered: Promise<void> | undefined;

  constructor(records: PullRecordsAccessor, policy: VerificationPolicy, clock: Clock) {
    this.#records = records;
    this.#policy = policy;
    this.#clock = clock;
  }

  /**
   * Converts the pull intents of killed processes and aborted pulls to records without credentials, so that pods must
   * pull these images again before they use them (initialize). Intents of images that do not exist are removed. Runs once
   * for all callers, and again after an aborted pull; aborting a caller's signal does not cancel it. Rejects with
   * SystemError, CriError or the signal's reason.
   */
  async recoverIntents(images: Pick<KubeImageService, 'listImages'>, signal: AbortSignal): Promise<void> {
    const recovered = (this.#recovered ??= this.#recover(images).catch((error: unknown) => {
      if (this.#recovered === recovered) this.#recovered = undefined;
      throw error;
    }));
    await abortable(recovered, signal);
  }

  async #recover(images: Pick<KubeImageService, 'listImages'>): Promise<void> {
    await this.#records.recoverIntents(async (intents) => {
      const present = (await images.listImages({})).images;
      const recovered: string[] = [];
      for (const intent of intents) {
        const parsed = parseImageName(intent);
        if (parsed.kind === 'invalid') continue;
        const found = present.find(({repoTags, repoDigests}) =>
          listedNames(parsed.name).some((name) => repoTags.includes(name) || repoDigests.includes(name)),
        );
        if (found === undefined || (await this.#isRestricted(found.id, parsed.name.repository)))
          recovered.push(intent);
      }
      return recovered;
    });
  }

  /**
   * Makes sure that an image has a record. Resolves with false if that cannot be written: the intent, which stays,
   * restricts the image as well, and pods with other images go on.
   */
  async #isRestricted(imageRef: string, repository: string): Promise<boolean> {
    try {
      await this.#updateRecord(imageRef, repository, undefined);
      return true;
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return false;
    }
  }

  /**
   * Records that a pull is about to start. Must be called before the pull, so that the image does not count as
   * preloaded if kcri is killed during it. Rejects with the signal's reason too, as the records of its end do.
   */
  async recordPullIntent(image: string, signal?: AbortSignal): Promise<void> {
    const pull = await this.#records.writeIntent(image, signal);
    this.#activePulls.set(image, [...(this.#activePulls.get(image) ?? []), pull]);
  }

  /** Removes the intent of a pull. Must be called after a pull that failed. */
  async recordPullFailed(image: string, signal?: AbortSignal): Promise<void> {
    await this.#endPull(image);
    await this.#records.deleteIntent(image, signal);
  }

  /**
   * Leaves the intent of a pull for the next recovery, as if kcri had been killed: the image may have arrived. Must be
   * called after a pull that was aborted.
   */
  async recordPullAborted(image: string): Promise<void> {
    await this.#endPull(image);
    this.#recovered = undefined;
  }

  /** Ends one of the pulls of the image that this process has in progress. */
  async #endPull(image: string): Promise<void> {
    const [pull, ...others] = this.#activePulls.get(image) ?? [];
    if (others.length === 0) this.#activePulls.delete(image);
    else this.#activePulls.set(image, others);
    await pull?.[Symbol.asyncDispose]();
  }

  /**
   * Records a pull and removes its intent. Must be called after a successful pull of `imageRef`, with or without a
   * credential. If it rejects, the intent stays for the next pull of the image or the next recovery.
   */
  async recordPulled(
    {image, repository}: RequestedImage,
    imageRef: string,
    {credential, signal}: {readonly credential: PullCredential | undefined; readonly signal?: AbortSignal},
  ): Promise<void> {
    try {
      await this.#updateRecord(imageRef, repository, accessOf(credential));
    } catch (error) {
      await this.#endPull(image);
      throw error;
    }
    await this.recordPullFailed(image, signal);
  }

  /**
   * Reports whether the pod must pull an image that is present on the node (MustAttemptImagePull). `credentials` is
   * only called if the result depends on it.
   */
  async mustAttemptImagePull(
    {image, repository}: RequestedImage,
    imageRef: string,
    credentials: () => Promise<readonly PullCredential[]>,
  ): Promise<boolean> {
    const record = await this.#findRecord(image, imageRef);
    if (record === 'unreadable') return true;
    if (!mustVerify(this.#policy, image, record !== undefined)) return false;
    const access = record === 'intent' ? undefined : record?.credentialMapping[repository];
    if (access === undefined) return true;
    if (access.nodePodsAccessible === true) return false;
    const {kubernetesSecrets = []} = access;
    // Service accounts cannot be verified: their tokens require an API server.
    if (kubernetesSecrets.length === 0) return true;
    const offered = toRecordedSecrets(await credentials());
    const known = findKnownSecret(access, offered);
    if (known === undefined) return true;
    if (kubernetesSecrets.length < MAX_RECORDED_SECRETS)
      await this.#updateRecord(imageRef, repository, {kubernetesSecrets: [known]});
    return false;
  }

  async #findRecord(
    image: string,
    imageRef: string,
  ): Promise<ImagePulledRecord | 'intent' | 'unreadable' | undefined> {
    try {
      const record = await this.#records.readPulled(imageRef);
      if (record !== undefined) return record;
      return this.#activePulls.has(image) || (await this.#records.hasIntent(image)) ? 'intent' : undefined;
    } catch (error) {
      rethrowUnexpected(error);
      // An unreadable record grants no access. The pull that follows replaces it or fails.
      return 'unreadable';
    }
  }

  async #updateRecord(imageRef: string, repository: string, access: PullAccess | undefined): Promise<void> {
    const nowMs = this.#clock.now();
    await this.#records.updatePulled(imageRef, (record) =>
      mergePullAccess(record, {imageRef, repository, access, nowMs}),
    );
  }
}

/** Returns the names by which a runtime lists an image. */
function listedNames({repository, tag, digest}: ImageName): readonly string[] {
  return [
    ...(tag === undefined ? [] : [`${repository}:${tag}`]),
    ...(digest === undefined ? [] : [`${repository}@${digest}`]),
  ];
}

/** Returns the access that a pull grants: to pods with the same Secret, or to all pods if it needed none of a pod's. */
function accessOf(credential: PullCredential | undefined): PullAccess {
  if (credential?.secret === undefined) return {nodePodsAccessible: true};
  return {kubernetesSecrets: toRecordedSecrets([credential])};
}

function toRecordedSecrets(
  credentials: readonly PullCredential[],
): NonNullable<PullAccess['kubernetesSecrets']> {
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
