import type {RemoveImagesStrategy} from './remove-images.js';
import {listCrictlRemovals, removeCrictlImage} from './crictl-remove-images.js';

/** Plans the removal of images as `crictl rmi` does. */
export const planImageRemovalAsCrictl: RemoveImagesStrategy = async (services, refs, {all, prune}) => {
  const {connections, report, signal} = services;
  const connection = await connections.default();
  const reporting = {signal, warn: report.warn, complain: report.error};
  const ids = await listCrictlRemovals(connection, {refs, all, prune}, reporting);
  if (ids === undefined) report.info('No images to remove');
  return {
    refs: ids ?? [],
    isSerial: false,
    remove: async (ref) => await removeCrictlImage(connection.images, ref, {prune, ...reporting}),
  };
};
