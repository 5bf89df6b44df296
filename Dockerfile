# The image for users and for agents in pods: the static program, the roots of trust of the machine that built it, and nothing else.
# scripts/image makes the folder that this is built in.
FROM scratch
COPY tare /tare
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# scripts/image says them. The source ties the image to its repository.
ARG SOURCE VERSION LICENSES
LABEL org.opencontainers.image.source=$SOURCE \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.licenses=$LICENSES
# A number: "runAsNonRoot" cannot check a name.
USER 65532:65532
ENTRYPOINT ["/tare"]
