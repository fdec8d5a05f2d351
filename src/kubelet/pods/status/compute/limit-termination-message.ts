import type {Pod} from '../../../../api/types/v1-pod.js';

/** Size limit of all termination messages of a pod, in bytes. */
const MAX_MESSAGES_BYTES = 12 * 1024;

/**
 * Truncates a container's termination message to its share of the pod's limit, in UTF-8 bytes, and omits a character that
 * would be split (status_manager.go normalizeStatus).
 */
export function limitTerminationMessage({spec}: Pod, message: string): string {
  const {containers, initContainers = [], ephemeralContainers = []} = spec;
  const count = containers.length + initContainers.length + ephemeralContainers.length;
  const limit = Math.floor(MAX_MESSAGES_BYTES / count);
  const bytes = Buffer.from(message);
  if (bytes.length <= limit) return message;
  return new TextDecoder().decode(bytes.subarray(0, limit), {stream: true});
}
