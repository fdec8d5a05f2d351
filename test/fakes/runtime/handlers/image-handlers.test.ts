import {describe, test} from 'vitest';
import {anImage, BUSYBOX} from '../../fake-runtime.js';
import {startConnectedFakeRuntime} from '../../connected-fake-runtime.js';

describe('images', () => {
  test('a published image is pulled, and an unpublished one is not found', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({images: [], registry: [anImage({name: 'nginx'})]});
    const {imageRef} = await started.connection.images.pullImage({
      image: {image: 'docker.io/library/nginx:latest'},
    });
    expect(started.fake.images).toMatchObject([{id: imageRef, repoTags: ['docker.io/library/nginx:latest']}]);
    await expect(started.connection.images.pullImage({image: {image: 'nosuch'}})).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: `failed to pull and unpack image "docker.io/library/nosuch:latest": failed to resolve image: docker.io/library/nosuch:latest: not found`,
    });
  });

  test.for([
    {reference: BUSYBOX, found: true},
    {reference: anImage().id, found: true},
    {reference: anImage().id.slice(7, 19), found: true},
    {reference: anImage().repoDigests[0]!, found: true},
    {reference: 'localhost:5000/busybox', found: false},
    {reference: 'nosuch', found: false},
  ])('ImageStatus of $reference finds an image: $found', async ({reference, found}, {expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {image} = await started.connection.images.imageStatus({image: {image: reference}});
    expect(image !== undefined).toBe(found);
  });

  test('a name with uppercase letters is rejected', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await expect(
      started.connection.images.pullImage({image: {image: 'localhost:5000/UPPER:1'}}),
    ).rejects.toThrow('invalid reference format: repository name (UPPER) must be lowercase');
  });

  test('removing an image twice succeeds', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await started.connection.images.removeImage({image: {image: BUSYBOX}});
    await started.connection.images.removeImage({image: {image: BUSYBOX}});
    expect((await started.connection.images.listImages()).images).toEqual([]);
  });

  test.for([
    {user: '1000:1000', uid: {value: 1000n}, username: ''},
    {user: 'nobody', uid: undefined, username: 'nobody'},
  ])(
    'an image of user $user has uid $uid.value and username "$username"',
    async ({user, uid, username}, {expect}) => {
      await using started = await startConnectedFakeRuntime({images: [anImage({user})]});
      const {images} = await started.connection.images.listImages();
      expect(images[0]).toMatchObject({uid, username});
    },
  );
});
