/** A Redis and an S3 store for a single test, which may break them. */
import { distributedSettings } from './engine.ts';
import { startRedis } from './redis.ts';
import { startS3 } from './s3.ts';

export async function startOwnStores(redisSettings: readonly string[] = []) {
  const [redis, s3] = await Promise.all([startRedis(redisSettings), startS3()]);
  Object.assign(process.env, s3.env);
  let isS3Running = true;
  const stopS3 = async () => {
    if (isS3Running) await s3.stop();
    isS3Running = false;
  };
  return {
    redis,
    s3: { stop: stopS3 },
    /** Servers that are started with these settings share all data. */
    settings: distributedSettings({ redis: redis.url, s3: s3.endpoint, bucket: s3.bucket }),
    async stop() {
      await Promise.all([redis.stop(), stopS3()]);
    },
  };
}
