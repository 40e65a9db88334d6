# Ein in a box: docker build -t ein . && docker run --rm -v "$PWD:/here" ein run x.ein
# A C compiler stays inside, for `ein build`, `ein bench` and `--target=c`.
FROM debian:12-slim AS built
COPY . /src
WORKDIR /src
RUN apt-get update && ./bootstrap install \
 && meson setup /build --buildtype=release --prefix=/usr/local && meson install -C /build --destdir /out

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev binutils && rm -rf /var/lib/apt/lists/*
COPY --from=built /out/usr/local /usr/local
WORKDIR /here
ENTRYPOINT ["ein"]
CMD ["help"]
