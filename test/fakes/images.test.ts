import {describe, test} from 'vitest';
import {anImage, BUSYBOX} from './fake-runtime.js';
import {start} from './started.js';

describe('images', () => {
  test('a published image is pulled, an unpublished one is not found', async ({expect}) => {
    await using started = await start({images: [], registry: [anImage({name: 'nginx'})]});
    const {imageRef} = await started.cri.images.pullImage({image: {image: 'docker.io/library/nginx:latest'}});
    expect(started.fake.images).toMatchObject([{id: imageRef, repoTags: ['docker.io/library/nginx:latest']}]);
    await expect(started.cri.images.pullImage({image: {image: 'nosuch'}})).rejects.toMatchObject({
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
    await using started = await start();
    const {image} = await started.cri.images.imageStatus({image: {image: reference}});
    expect(image !== undefined).toBe(found);
  });

  test('a name with capitals is no reference', async ({expect}) => {
    await using started = await start();
    await expect(started.cri.images.pullImage({image: {image: 'localhost:5000/UPPER:1'}})).rejects.toThrow(
      'invalid reference format: repository name (UPPER) must be lowercase',
    );
  });

  test('removing an image twice succeeds', async ({expect}) => {
    await using started = await start();
    await started.cri.images.removeImage({image: {image: BUSYBOX}});
    await started.cri.images.removeImage({image: {image: BUSYBOX}});
    expect((await started.cri.images.listImages()).images).toEqual([]);
  });

  test.for([
    {user: '1000:1000', uid: {value: 1000n}, username: ''},
    {user: 'nobody', uid: undefined, username: 'nobody'},
  ])(
    'an image of user $user has uid $uid.value and username "$username"',
    async ({user, uid, username}, {expect}) => {
      await using started = await start({images: [anImage({user})]});
      const {images} = await started.cri.images.listImages();
      expect(images[0]).toMatchObject({uid, username});
    },
  );
});
