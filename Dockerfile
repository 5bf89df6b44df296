# The image for users and for agents in pods: the static program, the roots of trust of the machine that built it, and nothing else.
# scripts/image makes the folder that this is built in.
FROM scratch
COPY tare /tare
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# A number: "runAsNonRoot" cannot check a name.
USER 65532:65532
ENTRYPOINT ["/tare"]
