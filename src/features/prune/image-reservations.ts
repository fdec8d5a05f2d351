import type {Pod} from '../../api/types/v1-pod.js';
import type {Image} from '../../cri/index.js';
import {matchesImageName} from '../../operations/filters/image-matching.js';
import type {ImageUsageCheck} from '../../operations/images/remove-image.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {formatPodTitle} from '../pods/pod-title.js';

/**
 * Returns a check that keeps the images of pods whose spec is known, those of kcri and of the kubelet of this machine: they
 * may start a container at any time.
 */
export function createImageReservations(listed: readonly ListedPod[]): ImageUsageCheck {
  const wanted = listed.flatMap((each) => {
    const pod = each.record?.pod ?? each.ofKubelet;
    return pod === undefined ? [] : imagesOf(pod).map((name) => ({name, title: formatPodTitle(each)}));
  });
  return (image: Image) => {
    const user = wanted.find(({name}) => matchesImageName(image, name));
    return user && `used by pod ${user.title}`;
  };
}

function imagesOf({spec}: Pod): readonly string[] {
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ];
  const names = [
    ...containers.map(({image}) => image),
    ...(spec.volumes ?? []).map(({image}) => image?.reference),
  ];
  return names.flatMap((name) => (name === undefined || name === '' ? [] : [name]));
}
